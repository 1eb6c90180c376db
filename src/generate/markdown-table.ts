/** Formats tables of the reference pages. */

export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(escapeCell).join(" | ")} |`;
  return [line(head), `|${"---|".repeat(head.length)}`, ...rows.map(line)].join("\n");
}

export function code(text: string): string {
  return `\`${text}\``;
}

export function meaningTable(head: string, sentences: Readonly<Record<string, string>>): string {
  return markdownTable(
    [head, "means"],
    Object.entries(sentences).map(([key, sentence]) => [code(key), sentence]),
  );
}

function escapeCell(text: string): string {
  return text.replaceAll("|", "\\|");
}
