/** Bytes of a watch to its lines. A chunk may end anywhere, inside a letter too. */
import { StringDecoder } from "node:string_decoder";

/** Longest line in characters: the API server stores objects of about 1.5 MiB, and JSON may write a byte as six characters. */
export const LINE_LIMIT = 10 * 1024 * 1024;

/** The lines that this chunk completes. */
export type CompleteLines = (chunk: Buffer) => readonly string[];

/** @throws Error when a line exceeds the limit, so that no sender fills the memory by never ending one */
export function lineSplitter(limit: number = LINE_LIMIT): CompleteLines {
  const decoder = new StringDecoder("utf8");
  let begun = "";
  return (chunk) => {
    const text = decoder.write(chunk);
    const parts = text.split("\n");
    const last = parts.pop() ?? "";
    if (parts.length === 0) {
      begun += last;
    } else {
      parts[0] = begun + parts[0];
      begun = last;
    }
    if (begun.length > limit) throw new Error(`a line of the watch is longer than ${limit} characters`);
    return parts.filter((line) => line.trim() !== "");
  };
}
