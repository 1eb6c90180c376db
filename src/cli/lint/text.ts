/** For a terminal: one finding to two lines, and how many there are. */
import { printable } from "../printable.ts";
import { type LintReport, type ReportedFinding, whereOf } from "./report.ts";

export function lintText({ findings, problems }: LintReport): string {
  // "No findings" would be no answer about what could not be read.
  const end = findings.length === 0 && problems.length > 0 ? "" : summary(findings);
  return findings.map(findingText).join("") + end;
}

function findingText(finding: ReportedFinding): string {
  const { file, line, column, level, rule, message, remedy } = finding;
  const lines = [`${file}:${line}:${column}: ${level}: ${message} [${rule}]`, `  ${whereOf(finding)}`, `  ${remedy}`];
  return `${lines.map(printable).join("\n")}\n`;
}

function summary(findings: readonly ReportedFinding[]): string {
  const count = (level: string): number => findings.filter((finding) => finding.level === level).length;
  if (findings.length === 0) return "no findings\n";
  const noun = findings.length === 1 ? "finding" : "findings";
  return `${findings.length} ${noun}: error ${count("error")}, warning ${count("warning")}, note ${count("note")}\n`;
}
