/** Writes the generated parts of Markdown pages. Pure. */

/** Replaces the text between the two markers of a section. @throws if the page does not contain both markers in their order */
export function replaceSection(page: string, name: string, text: string): string {
  const beginMarker = `<!-- generated: ${name} -->`;
  const endMarker = `<!-- end of ${name} -->`;
  const from = page.indexOf(beginMarker);
  const to = page.indexOf(endMarker);
  if (from < 0 || to < from) throw new Error(`the page has no section between ${beginMarker} and ${endMarker}`);
  return `${page.slice(0, from + beginMarker.length)}\n${text}\n${page.slice(to)}`;
}

export function table(rows: readonly (readonly string[])[]): string {
  const [head = [], ...body] = rows;
  return [head, head.map(() => "---"), ...body].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
