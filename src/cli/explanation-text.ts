/** An explanation as a page for the terminal. */
import { formatDuration } from "../contract/duration.ts";
import { PRELOAD_LIBRARY } from "../contract/manager-environment.ts";
import type { WorkloadExplanation } from "./explanation.ts";
import { graceSentence } from "./grace-arithmetic.ts";
import { printable } from "./printable.ts";
import { titleOf } from "./workload-report.ts";

export function explanationText(explanation: WorkloadExplanation): string {
  const { workload, grace, timeline, limit, holds, loads } = explanation;
  const lines = [`${titleOf(workload)} (${workload.file}, document ${workload.document})`];
  lines.push(`  decision: ${explanation.decision}`);
  if (explanation.assumed !== undefined) lines.push(`  assumed: ${explanation.assumed}`);
  lines.push(...workload.problems.map(({ where, message }) => `  problem: ${where}: ${message}`));
  lines.push("  values:", ...table(explanation.values.map(({ name, value, origin }) => [name, value, origin])));
  if (holds !== undefined)
    lines.push(`  held until the drain ends: ${holds.length === 0 ? "nothing" : holds.join(", ")}`);
  if (loads !== undefined) lines.push(`  load ${PRELOAD_LIBRARY}: ${loads.join(", ")}`);
  if (grace !== undefined) lines.push(`  grace period: ${graceSentence(grace)}`);
  if (timeline !== undefined) {
    lines.push("  expected end of a Pod:", ...table(timeline.map(({ atMs, what }) => [formatDuration(atMs), what])));
  }
  if (limit !== undefined) lines.push(`  limit: ${limit}`);
  return `${lines.map(printable).join("\n")}\n`;
}

/** Columns as wide as their widest cell; the last one is free. */
function table(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  return rows.map((row) => {
    const cells = row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)));
    return `    ${cells.join("  ")}`;
  });
}
