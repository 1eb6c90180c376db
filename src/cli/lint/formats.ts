/** Formats findings as text, as GitHub Actions annotations, and as SARIF. */
import { createHash } from "node:crypto";
import { VERSION } from "../../contract/version.ts";
import { RULES } from "../../lint/lint.ts";
import { type FileProblem, problemLine } from "../open-manifests.ts";
import { printable } from "../terminal-text.ts";
import { type LintReport, type ReportedFinding, whereOf } from "./lint-report.ts";

export function lintText({ findings, problems }: LintReport): string {
  // "no findings" would be misleading after unreadable documents.
  const summaryText = findings.length === 0 && problems.length > 0 ? "" : summary(findings);
  return findings.map(findingText).join("") + summaryText;
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

/** @see https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands */
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

export function lintSarif({ findings, problems }: LintReport): string {
  const run = {
    tool: { driver: { name: "lastcall", version: VERSION, rules: RULES.map(ruleOf) } },
    invocations: [
      { executionSuccessful: problems.length === 0, toolExecutionNotifications: problems.map(notificationOf) },
    ],
    results: findings.map(resultOf),
    columnKind: "utf16CodeUnits",
  };
  const log = { $schema: "https://json.schemastore.org/sarif-2.1.0.json", version: "2.1.0", runs: [run] };
  return `${JSON.stringify(log, null, 2)}\n`;
}

function ruleOf({ id, title, why, remedy, level }: (typeof RULES)[number]): object {
  return {
    id,
    shortDescription: { text: title },
    fullDescription: { text: why },
    help: { text: remedy },
    defaultConfiguration: { level },
  };
}

function resultOf(finding: ReportedFinding): object {
  const { rule, level, message, file, line, column, kind, namespace, name, field } = finding;
  return {
    ruleId: rule,
    ruleIndex: RULES.findIndex(({ id }) => id === rule),
    level,
    message: { text: `${whereOf(finding)}: ${message}` },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: uriOf(file) },
          region: { startLine: line, startColumn: column },
        },
        logicalLocations: [{ fullyQualifiedName: `${kind}/${namespace}/${name}/${field}`, kind: "member" }],
      },
    ],
    // Without line numbers, so that a finding keeps its identity when lines move.
    partialFingerprints: { "lastcallFinding/v1": fingerprint([rule, file, kind, namespace, name, field]) },
  };
}

function fingerprint(parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32);
}

function notificationOf(problem: FileProblem): object {
  return { level: "error", message: { text: problemLine(problem) } };
}

/** Keeps relative paths relative, so that code scanning resolves them in the repository. */
function uriOf(file: string): string {
  return file.replaceAll("\\", "/").split("/").map(encodeURIComponent).join("/");
}
