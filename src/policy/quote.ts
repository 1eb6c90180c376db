/** Quotes a user's text in messages. Pure. */

/** Characters of it that a message repeats. Warnings should stay near 120. */
const ECHO_LIMIT = 40;

/** Text from outside, safe inside a sentence: no control characters, no unbounded echo. */
export function quote(text: string): string {
  return quoteUpTo(ECHO_LIMIT, text);
}

/** With a limit of its own, for text of an API server: its reason often stands behind the first 40 characters. */
export function quoteUpTo(limit: number, text: string): string {
  const clean = text.replace(/[^\x20-\x7e]/g, "?");
  return clean.length > limit ? `"${clean.slice(0, limit)}…"` : `"${clean}"`;
}
