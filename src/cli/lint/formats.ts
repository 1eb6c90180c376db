/** Formats findings as text, as GitHub Actions annotations, and as SARIF. */
import { createHash } from "node:crypto";
import { VERSION } from "../../contract/version.ts";
import { RULES } from "../../lint/lint.ts";
import { type FileProblem, problemLine } from "../open-manifests.ts";
import { printable } from "../terminal-text.ts";
import { type LintReport, placeText, type ReportedFinding } from "./lint-report.ts";

export function lintText({ findings, problems }: LintReport): string {
  // "no findings" would be misleading after unreadable documents.
  const summaryText = findings.length === 0 && problems.length > 0 ? "" : summarize(findings);
  return findings.map(findingText).join("") + summaryText;
}

function findingText(finding: ReportedFinding): string {
  const { file, line, column, level, rule, message, remedy } = finding;
  const lines = [`${file}:${line}:${column}: ${level}: ${message} [${rule}]`, `  ${placeText(finding)}`, `  ${remedy}`];
  return `${lines.map(printable).join("\n")}\n`;
}

function summarize(findings: readonly ReportedFinding[]): string {
  const count = (level: string): number => findings.filter((finding) => finding.level === level).length;
  if (findings.length === 0) return "no findings\n";
  const noun = findings.length === 1 ? "finding" : "findings";
  return `${findings.length} ${noun}: error ${count("error")}, warning ${count("warning")}, note ${count("note")}\n`;
}

/** @see https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands */
export function lintAnnotations({ findings }: LintReport): string {
  return findings.map(annotationLine).join("");
}

function annotationLine(finding: ReportedFinding): string {
  const { file, line, column, level, rule, message, remedy } = finding;
  const properties = { file, line: String(line), col: String(column), title: `lastcall lint: ${rule}` };
  const propertyTexts = Object.entries(properties).map(([name, value]) => `${name}=${escapeProperty(value)}`);
  const command = level === "note" ? "notice" : level;
  return `::${command} ${propertyTexts.join(",")}::${escapeText(`${placeText(finding)}: ${message} ${remedy}`)}\n`;
}

function escapeText(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function escapeProperty(text: string): string {
  return escapeText(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}

export function lintSarif({ findings, problems }: LintReport): string {
  const run = {
    tool: { driver: { name: "lastcall", version: VERSION, rules: RULES.map(sarifRule) } },
    invocations: [
      { executionSuccessful: problems.length === 0, toolExecutionNotifications: problems.map(sarifNotification) },
    ],
    results: findings.map(sarifResult),
    columnKind: "utf16CodeUnits",
  };
  const log = { $schema: "https://json.schemastore.org/sarif-2.1.0.json", version: "2.1.0", runs: [run] };
  return `${JSON.stringify(log, null, 2)}\n`;
}

function sarifRule({ id, title, why, remedy, level }: (typeof RULES)[number]): object {
  return {
    id,
    shortDescription: { text: title },
    fullDescription: { text: why },
    help: { text: remedy },
    defaultConfiguration: { level },
  };
}

function sarifResult(finding: ReportedFinding): object {
  const { rule, level, message, file, line, column, kind, namespace, name, field } = finding;
  return {
    ruleId: rule,
    ruleIndex: RULES.findIndex(({ id }) => id === rule),
    level,
    message: { text: `${placeText(finding)}: ${message}` },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: toUri(file) },
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

function sarifNotification(problem: FileProblem): object {
  return { level: "error", message: { text: problemLine(problem) } };
}

/** Keeps relative paths relative, so that code scanning resolves them in the repository. */
function toUri(file: string): string {
  return file.replaceAll("\\", "/").split("/").map(encodeURIComponent).join("/");
}
