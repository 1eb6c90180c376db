/** Parses a value with its codec, or returns the code and message of the problem. */
import type { Codec } from "./codecs.ts";
import { quote } from "./quote.ts";

type ReadValue<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly code: "bad_value" | "list_too_long"; readonly message: string };

type ReadableCodec<T> = Pick<Codec<T>, "expects" | "longest" | "parse">;

export function readValue<T>(codec: ReadableCodec<T>, written: unknown): ReadValue<T> {
  if (typeof written !== "string")
    return unreadable(codec, `${written === null ? "null" : `a ${typeof written}`} instead of a string`);
  if (codec.longest !== undefined) {
    const entries = entriesOf(written);
    const message = `Got ${entries} entries, expected at most ${codec.longest}.`;
    if (entries > codec.longest) return { ok: false, code: "list_too_long", message };
  }
  const value = codec.parse(written);
  return value === undefined ? unreadable(codec, quote(written)) : { ok: true, value };
}

function unreadable<T>({ expects }: ReadableCodec<T>, got: string): ReadValue<T> {
  return { ok: false, code: "bad_value", message: `Got ${got}, expected ${expects}.` };
}

/** Counts without `split`, because an untrusted list may be long. */
function entriesOf(list: string): number {
  let entries = 1;
  for (let at = list.indexOf(","); at >= 0; at = list.indexOf(",", at + 1)) entries += 1;
  return entries;
}
