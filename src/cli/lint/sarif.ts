/** SARIF 2.1.0, for code scanning. */
import { createHash } from "node:crypto";
import { VERSION } from "../../contract/version.ts";
import { RULES } from "../../lint/rules.ts";
import { type FileProblem, problemLine } from "../open-manifests.ts";
import { type LintReport, type ReportedFinding, whereOf } from "./report.ts";

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
    // Lines move; the same field of the same object is the same finding.
    partialFingerprints: { "lastcallFinding/v1": fingerprint([rule, file, kind, namespace, name, field]) },
  };
}

function fingerprint(parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32);
}

function notificationOf(problem: FileProblem): object {
  return { level: "error", message: { text: problemLine(problem) } };
}

/** Relative as given, so that a server finds the file in its repository. */
function uriOf(file: string): string {
  return file.replaceAll("\\", "/").split("/").map(encodeURIComponent).join("/");
}
