/** Names of Pods and containers come from outside: one line of printable text, cut at `limit` characters. */
export function oneLine(text: string, limit: number): string {
  const clean = text.replaceAll("…", "...").replace(/[^\x20-\x7e]/g, "?");
  return clean.length > limit ? `${clean.slice(0, limit - 3)}...` : clean;
}
