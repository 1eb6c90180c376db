/** Random text of any characters. */
import fc from "fast-check";

const SURROGATES = { first: 0xd800, count: 0x800 };
const CODE_POINTS = 0x110000 - SURROGATES.count;

/** Replaces fast-check's unit `binary`, which takes a second of CPU time to build a table of all characters. */
const anyCharacter = fc.nat({ max: CODE_POINTS - 1 }).map(
  (at) => String.fromCodePoint(at < SURROGATES.first ? at : at + SURROGATES.count),
  (character) => {
    const point = typeof character === "string" ? (character.codePointAt(0) ?? -1) : -1;
    if (point < 0 || String.fromCodePoint(point) !== character) throw new Error("not one character");
    return point < SURROGATES.first ? point : point - SURROGATES.count;
  },
);

export function anyText(limits: { readonly maxLength?: number } = {}): fc.Arbitrary<string> {
  return fc.string({ unit: anyCharacter, ...limits });
}
