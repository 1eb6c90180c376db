/** Prints manifests to standard output, and reports to standard error. */
import { formatDuration } from "../contract/duration.ts";
import { PRELOAD_LIBRARY } from "../contract/manager-environment.ts";
import { graceSentence } from "./expected-shutdown.ts";
import type { WorkloadExplanation } from "./explanation.ts";
import { problemLine } from "./open-manifests.ts";
import type { Ports } from "./ports.ts";
import { alignRows, printable } from "./terminal-text.ts";
import type { ChangedManifest, Transformed } from "./transform.ts";
import { reportLines, workloadTitle } from "./workload-report.ts";

/**
 * Prints the report. With `json` the whole report is one object: `{"workloads", "warnings", "problems"}`.
 *
 * @returns false if there are problems; the caller must not write the manifests then
 */
export function printReport(result: Transformed, json: boolean, print: (text: string) => void): boolean {
  if (json) print(`${JSON.stringify(jsonReport(result))}\n`);
  else {
    for (const warning of result.warnings) print(`warning: ${problemLine(warning)}\n`);
    for (const report of result.reports) print(`${reportLines(report).join("\n")}\n`);
    printProblemsOrNothing(result, print);
  }
  return hasSucceeded(result);
}

/** Prints "nothing to do" if there is no other output, because a run without any output would seem to be a success. */
function printProblemsOrNothing(
  { problems, reports, warnings, sources }: Transformed,
  print: (text: string) => void,
): void {
  for (const problem of problems) print(`error: ${problemLine(problem)}\n`);
  if (problems.length > 0 || reports.length > 0 || warnings.length > 0) return;
  print(printable(`nothing to do: no Pods or workloads found in ${sources.join(", ")}`).concat("\n"));
}

export function printProblems(result: Transformed, print: (text: string) => void): void {
  for (const warning of result.warnings) print(`warning: ${problemLine(warning)}\n`);
  printProblemsOrNothing(result, print);
}

export function jsonReport({ reports, warnings, problems }: Transformed): object {
  return { workloads: reports, warnings, problems };
}

export function hasSucceeded({ problems, reports }: Transformed): boolean {
  return problems.length === 0 && reports.every(({ outcome }) => outcome !== "refused");
}

function joinManifests(manifests: readonly ChangedManifest[]): string {
  let text = "";
  for (const { after } of manifests) {
    if (text !== "") {
      if (!text.endsWith("\n")) text += "\n";
      if (!/^\ufeff?(---|%)/.test(after)) text += "---\n";
    }
    // A byte-order mark is allowed only at the start.
    text += text === "" ? after : after.replace(/^\ufeff/, "");
  }
  return text;
}

export function writeManifests(result: Transformed, ports: Ports): void {
  ports.out(joinManifests(result.manifests));
}

export function explanationText(explanation: WorkloadExplanation): string {
  const { workload, grace, timeline, limit, holds, replaces = [], loads } = explanation;
  const lines = [`${workloadTitle(workload)} (${workload.file}, document ${workload.document})`];
  lines.push(`  decision: ${explanation.decision}`);
  if (explanation.assumed !== undefined) lines.push(`  assumed: ${explanation.assumed}`);
  lines.push(...workload.problems.map(({ where, message }) => `  problem: ${where}: ${message}`));
  lines.push("  values:", ...table(explanation.values.map(({ name, value, origin }) => [name, value, origin])));
  if (holds !== undefined)
    lines.push(`  containers held until the drain ends: ${holds.length === 0 ? "none" : holds.join(", ")}`);
  lines.push(...replaces.map((hook) => `  replaced preStop hook: ${hook}`));
  if (loads !== undefined) lines.push(`  containers that load ${PRELOAD_LIBRARY}: ${loads.join(", ")}`);
  if (grace !== undefined) lines.push(`  grace period: ${graceSentence(grace)}`);
  if (timeline !== undefined) {
    lines.push("  expected shutdown:", ...table(timeline.map(({ atMs, what }) => [formatDuration(atMs), what])));
  }
  if (limit !== undefined) lines.push(`  limit: ${limit}`);
  return `${lines.map(printable).join("\n")}\n`;
}

function table(rows: readonly (readonly string[])[]): readonly string[] {
  return alignRows(rows).map((row) => `    ${row}`);
}
