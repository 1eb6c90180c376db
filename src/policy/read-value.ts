/** One written value to what it means, or to what is wrong with it: the same words wherever a value is written. */
import type { Codec } from "./codecs.ts";
import { quote } from "./quote.ts";

type ReadValue<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly code: "bad_value" | "list_too_long"; readonly message: string };

/** What reading takes of a codec. */
type Reading<T> = Pick<Codec<T>, "expects" | "longest" | "parse">;

export function readValue<T>(codec: Reading<T>, written: unknown): ReadValue<T> {
  if (typeof written !== "string")
    return unreadable(codec, `a ${written === null ? "null" : typeof written} instead of text`);
  if (codec.longest !== undefined) {
    const entries = entriesOf(written);
    const message = `It lists ${entries} entries, and at most ${codec.longest} can be obeyed.`;
    if (entries > codec.longest) return { ok: false, code: "list_too_long", message };
  }
  const value = codec.parse(written);
  return value === undefined ? unreadable(codec, quote(written)) : { ok: true, value };
}

function unreadable<T>({ expects }: Reading<T>, got: string): ReadValue<T> {
  return { ok: false, code: "bad_value", message: `Got ${got}, expected ${expects}.` };
}

/** Counted before anything is made of them. */
function entriesOf(list: string): number {
  let entries = 1;
  for (let at = list.indexOf(","); at >= 0; at = list.indexOf(",", at + 1)) entries += 1;
  return entries;
}
