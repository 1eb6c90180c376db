/** Text from outside: made safe for terminals, pages, logs and Events, or checked as a name. Pure. */

/**
 * One line of printable ASCII, so nothing moves a cursor, turns the direction of writing or looks like another letter.
 *
 * @param limit characters; longer text ends with three dots
 */
export function plainText(text: string, limit: number): string {
  // Cut first: a sender of a megabyte does not get it searched.
  const start = text.slice(0, limit + 1);
  const clean = start.replaceAll("…", "...").replace(/[^\x20-\x7e]/g, "?");
  return clean.length > limit ? `${clean.slice(0, limit - 3)}...` : clean;
}

/** Names of containers, namespaces and profiles: a DNS label of RFC 1123, which is what the API server accepts. */
export const DNS_LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

export function isDnsLabel(text: string): boolean {
  return DNS_LABEL.test(text);
}
