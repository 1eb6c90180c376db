/** The profiles that ship: what each is for, its values, and why these. */
import { SHIPPED_PROFILES } from "../policy/shipped-profiles.ts";
import { code, markdownTable } from "./markdown-table.ts";

export function profileReference(): string {
  const rows = Object.entries(SHIPPED_PROFILES).map(([name, { purpose, values, reason }]) => [
    code(name),
    purpose,
    Object.entries(values)
      .map(([value, text]) => code(`${value}: ${text}`))
      .join(", "),
    reason,
  ]);
  return markdownTable(["profile", "for", "values", "why"], rows);
}
