/** Every annotation, from the table. */
import { ANNOTATIONS, FIELDS, fallbackText, PREFIX } from "../policy/annotation-table.ts";
import { code, markdownTable } from "./markdown-table.ts";

/** One row per annotation, in the table's order. */
export function annotationReference(): string {
  const rows = FIELDS.map((field) => {
    const { name, codec, summary } = ANNOTATIONS[field];
    return [code(PREFIX + name), codec.shows, fallbackText(field), summary];
  });
  return markdownTable(["annotation", "values", "default", "what it does"], rows);
}
