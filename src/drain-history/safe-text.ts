/** Escapes text for HTML and SVG. Pure. */

const NAMES: ReadonlyMap<string, string> = new Map([
  ["&", "&amp;"],
  ["<", "&lt;"],
  [">", "&gt;"],
  ['"', "&quot;"],
  ["'", "&#39;"],
]);

/**
 * For elements and quoted attributes. Characters that XML has no place for, or that turn the
 * direction of what follows, become question marks.
 */
export function escaped(text: string): string {
  return text.replace(/[&<>"'\p{Cc}\p{Cf}\p{Cs}\u2028\u2029\ufffe\uffff]/gu, (one) => NAMES.get(one) ?? "?");
}
