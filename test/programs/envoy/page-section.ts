/** Replaces what stands between two marks of a page. Pure. */

/** @throws where the page has no such marks */
export function within(page: string, name: string, text: string): string {
  const begin = `<!-- generated: ${name} -->`;
  const end = `<!-- end of ${name} -->`;
  const from = page.indexOf(begin);
  const to = page.indexOf(end);
  if (from < 0 || to < from) throw new Error(`the page has no section between ${begin} and ${end}`);
  return `${page.slice(0, from + begin.length)}\n${text}\n${page.slice(to)}`;
}
