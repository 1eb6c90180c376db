/** Quotes untrusted text in messages: printable ASCII of limited length. Pure. */

/** Warnings of an admission response should stay below 120 characters. */
const ECHO_LIMIT = 40;

export function quote(text: string): string {
  return quoteUpTo(ECHO_LIMIT, text);
}

export function quoteUpTo(limit: number, text: string): string {
  const clean = text.replace(/[^\x20-\x7e]/g, "?");
  return clean.length > limit ? `"${clean.slice(0, limit)}…"` : `"${clean}"`;
}
