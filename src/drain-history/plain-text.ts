/**
 * Text of a report, fit for terminals, pages and logs: printable ASCII only, so nothing moves a cursor, turns the
 * direction of writing or looks like another letter. Everything the manager writes is ASCII. Cut at `limit` characters.
 */
export function plainText(text: string, limit: number): string {
  // Cut before anything else: a sender of a megabyte does not get it searched.
  const start = text.slice(0, limit + 1);
  const clean = start.replaceAll("…", "...").replace(/[^\x20-\x7e]/g, "?");
  return clean.length > limit ? `${clean.slice(0, limit - 3)}...` : clean;
}
