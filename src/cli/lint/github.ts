/** Workflow commands of GitHub Actions, which show each finding beside its line. */
import { type LintReport, type ReportedFinding, whereOf } from "./report.ts";

export function lintAnnotations({ findings }: LintReport): string {
  return findings.map(annotation).join("");
}

function annotation(finding: ReportedFinding): string {
  const { file, line, column, level, rule, message, remedy } = finding;
  const properties = { file, line: String(line), col: String(column), title: `lastcall lint: ${rule}` };
  const list = Object.entries(properties).map(([name, value]) => `${name}=${escapedProperty(value)}`);
  const command = level === "note" ? "notice" : level;
  return `::${command} ${list.join(",")}::${escaped(`${whereOf(finding)}: ${message} ${remedy}`)}\n`;
}

function escaped(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function escapedProperty(text: string): string {
  return escaped(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
