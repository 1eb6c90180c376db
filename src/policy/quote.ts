/** Longest piece of a user's text that a message repeats, in characters. Warnings should stay near 120. */
const ECHO_LIMIT = 40;

/** Text from outside, safe inside a sentence: no control characters, no unbounded echo. */
export function quote(text: string): string {
  const clean = text.replace(/[^\x20-\x7e]/g, "?");
  return clean.length > ECHO_LIMIT ? `"${clean.slice(0, ECHO_LIMIT)}…"` : `"${clean}"`;
}
