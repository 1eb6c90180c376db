/** The rules of `lastcall lint`: a table, and a heading for each so that an address can end with it. */
import { RULES } from "../lint/rules.ts";
import { STOP_SIGNALS } from "../lint/stop-signals.ts";
import { code, markdownTable } from "./markdown-table.ts";

export function lintRuleReference(): string {
  const rows = RULES.map(({ id, level, title }) => [`[${code(id)}](#${id})`, level, title]);
  const parts = RULES.map(({ id, title, why, remedy }) => `## ${id}\n\n${title}. ${why}\n\n${remedy}`);
  return [markdownTable(["rule", "level", "finds"], rows), ...parts].join("\n\n");
}

export function stopSignalReference(): string {
  const rows = STOP_SIGNALS.map(({ images, program, graceful, since }) => [
    images.map(code).join(", "),
    program,
    graceful ?? "none",
    since,
  ]);
  return markdownTable(["images", "program", "graceful signal", "which images name it"], rows);
}
