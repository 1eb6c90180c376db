/** Escapes text for HTML and SVG. Pure. */

const NAMES: ReadonlyMap<string, string> = new Map([
  ["&", "&amp;"],
  ["<", "&lt;"],
  [">", "&gt;"],
  ['"', "&quot;"],
  ["'", "&#39;"],
]);

/** For elements and quoted attributes. Replaces control, format and forbidden characters by `?`. */
export function escaped(text: string): string {
  return text.replace(/[&<>"'\p{Cc}\p{Cf}\p{Cs}\u2028\u2029\ufffe\uffff]/gu, (one) => NAMES.get(one) ?? "?");
}
