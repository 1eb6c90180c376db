/** The README's annotation section, from the table. */
import { ANNOTATIONS, FIELDS, fallbackText, PREFIX } from "../policy/annotation-table.ts";

/** One Markdown table row per annotation, in the table's order. */
export function annotationReference(): string {
  const rows = FIELDS.map((field) => {
    const row = ANNOTATIONS[field];
    const values = escapeCell(row.codec.shows);
    return `| \`${PREFIX}${row.name}\` | ${values} | ${escapeCell(fallbackText(field))} | ${escapeCell(row.summary)} |`;
  });
  return ["| annotation | values | default | |", "|---|---|---|---|", ...rows].join("\n");
}

function escapeCell(text: string): string {
  return text.replaceAll("|", "\\|");
}
