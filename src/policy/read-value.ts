/** Parses a value with its codec, or returns the code and message of the problem. */
import type { Codec } from "./codecs.ts";
import { quote } from "./quote.ts";

type ReadResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly code: "bad_value" | "list_too_long"; readonly message: string };

type ReadableCodec<T> = Pick<Codec<T>, "expects" | "entryLimit" | "parse">;

export function readValue<T>(codec: ReadableCodec<T>, text: unknown): ReadResult<T> {
  if (typeof text !== "string") return badValueResult(codec, `${typeText(text)} instead of a string`);
  if (codec.entryLimit !== undefined) {
    const entryCount = countEntries(text);
    const message = `Got ${entryCount} entries, expected at most ${codec.entryLimit}.`;
    if (entryCount > codec.entryLimit) return { ok: false, code: "list_too_long", message };
  }
  const value = codec.parse(text);
  return value === undefined ? badValueResult(codec, quote(text)) : { ok: true, value };
}

/** The value itself may be long, so messages contain only its type. */
export function typeText(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return `${typeof value === "object" ? "an" : "a"} ${typeof value}`;
}

function badValueResult<T>({ expects }: ReadableCodec<T>, got: string): ReadResult<T> {
  return { ok: false, code: "bad_value", message: `Got ${got}, expected ${expects}.` };
}

/** Counts without `split`, because an untrusted list may be long. */
function countEntries(list: string): number {
  let entries = 1;
  for (let at = list.indexOf(","); at >= 0; at = list.indexOf(",", at + 1)) entries += 1;
  return entries;
}
