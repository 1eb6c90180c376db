/** Quotes untrusted text in messages: printable ASCII of limited length. Pure. */

/** A quoted value must leave space for the remedy in a warning of 256 characters. */
const QUOTE_LIMIT_CHARACTERS = 40;

export function quote(text: string): string {
  return quoteUpTo(QUOTE_LIMIT_CHARACTERS, text);
}

export function quoteUpTo(limitCharacters: number, text: string): string {
  const printableText = text.replace(/[^\x20-\x7e]/g, "?");
  return printableText.length > limitCharacters
    ? `"${printableText.slice(0, limitCharacters)}…"`
    : `"${printableText}"`;
}
