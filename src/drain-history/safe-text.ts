/** Escapes text for HTML and SVG. Pure. */

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ["&", "&amp;"],
  ["<", "&lt;"],
  [">", "&gt;"],
  ['"', "&quot;"],
  ["'", "&#39;"],
]);

/** The result is safe in elements and quoted attributes. Replaces control, format and forbidden characters by `?`. */
export function escapeMarkup(text: string): string {
  return text.replace(
    /[&<>"'\p{Cc}\p{Cf}\p{Cs}\u2028\u2029\ufffe\uffff]/gu,
    (character) => ENTITIES.get(character) ?? "?",
  );
}
