/** Splits a watch response into lines and parses each. Pure. */
import { StringDecoder } from "node:string_decoder";
import { isRawObject, objectAt, type RawObject, textAt, valueAt } from "../kubernetes/raw-json.ts";

type WatchEvent =
  | { readonly kind: "put"; readonly object: RawObject }
  | { readonly kind: "deleted"; readonly object: RawObject }
  | { readonly kind: "bookmark"; readonly object: RawObject }
  /** The requested resourceVersion was compacted: a list has to follow. */
  | { readonly kind: "expired" }
  /** An invalid line or another error: an event may be lost, so a list has to follow. */
  | { readonly kind: "broken"; readonly reason: string };

const STATUS_GONE = 410;

export function readWatchEvent(line: string): WatchEvent {
  let event: unknown;
  try {
    event = JSON.parse(line);
  } catch {
    return { kind: "broken", reason: "a line of the watch response is not JSON" };
  }
  const object = isRawObject(event) ? objectAt(event, "object") : undefined;
  if (!isRawObject(event) || object === undefined)
    return { kind: "broken", reason: "a line of the watch response is not a watch event" };
  switch (event["type"]) {
    case "ADDED":
    case "MODIFIED":
      return { kind: "put", object };
    case "DELETED":
      return { kind: "deleted", object };
    case "BOOKMARK":
      return { kind: "bookmark", object };
    case "ERROR":
      return valueAt(object, "code") === STATUS_GONE || textAt(object, "reason") === "Expired"
        ? { kind: "expired" }
        : {
            kind: "broken",
            reason: `the watch ended with the error code ${String(valueAt(object, "code")).slice(0, 8)}`,
          };
    default:
      return { kind: "broken", reason: "a line of the watch response is an event of an unknown type" };
  }
}

export function resourceVersionOf(object: RawObject): string | undefined {
  const version = textAt(objectAt(object, "metadata"), "resourceVersion");
  return version === "" ? undefined : version;
}

/** Longest line in characters: the API server stores objects of up to about 1.5 MiB, and JSON may escape a byte as six characters. */
const LINE_LIMIT = 10 * 1024 * 1024;

/** Returns the lines that the chunk completes. */
type SplitLines = (chunk: Buffer) => readonly string[];

/** @throws Error when a line exceeds the limit, which bounds the memory of an unterminated line */
export function createLineSplitter(limit: number = LINE_LIMIT): SplitLines {
  const decoder = new StringDecoder("utf8");
  let partialLine = "";
  return (chunk) => {
    const text = decoder.write(chunk);
    const parts = text.split("\n");
    const lastPart = parts.pop() ?? "";
    if (parts.length === 0) {
      partialLine += lastPart;
    } else {
      parts[0] = partialLine + parts[0];
      partialLine = lastPart;
    }
    if (partialLine.length > limit) throw new Error(`a line of the watch response is longer than ${limit} characters`);
    return parts.filter((line) => line.trim() !== "");
  };
}
