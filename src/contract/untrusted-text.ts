/** Sanitizes untrusted text for terminals, pages, logs and Events, and checks names. Pure. */

/**
 * Returns one line of printable ASCII: no control sequences, no bidirectional overrides, no homoglyphs.
 *
 * @param limit characters; longer text is cut and ends with three dots
 */
export function plainText(text: string, limit: number): string {
  // Cuts first, so that the cost does not grow with the length of the text.
  const boundedText = text.slice(0, limit + 1);
  const printableText = boundedText.replaceAll("…", "...").replace(/[^\x20-\x7e]/g, "?");
  return printableText.length > limit ? `${printableText.slice(0, limit - 3)}...` : printableText;
}

/** An RFC 1123 label: the form of names of containers, namespaces and profiles. */
export const DNS_LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

export function isDnsLabel(text: string): boolean {
  return DNS_LABEL.test(text);
}
