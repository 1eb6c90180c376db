/** Defines the findings that lint prints, with places instead of syntax trees. */
import { pathText } from "../../kubernetes/listed-objects.ts";
import type { Finding } from "../../lint/lint.ts";
import type { Level } from "../../lint/rule.ts";
import { quote } from "../../policy/quote.ts";
import type { FileProblem } from "../open-manifests.ts";

export type ReportedFinding = {
  readonly rule: string;
  readonly level: Level;
  readonly file: string;
  readonly document: number;
  readonly line: number;
  readonly column: number;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly field: string;
  readonly value: unknown;
  readonly message: string;
  readonly remedy: string;
};

export type LintReport = {
  readonly findings: readonly ReportedFinding[];
  readonly warnings: readonly FileProblem[];
  readonly problems: readonly FileProblem[];
};

export function reportFinding(finding: Finding, { line, column }: { line: number; column: number }): ReportedFinding {
  const { rule, at, path, value, message } = finding;
  return {
    rule: rule.id,
    level: rule.level,
    file: at.document.file,
    document: at.document.number,
    line,
    column,
    kind: at.kind,
    namespace: at.namespace,
    name: at.name,
    field: pathText(path.slice(at.objectPath.length)),
    value: value ?? null,
    message,
    remedy: rule.remedy,
  };
}

export function placeText({ kind, namespace, name, field, value }: ReportedFinding): string {
  return `${kind} ${namespace}/${name === "" ? "(no name)" : name}, ${field} (${valueText(value)})`;
}

function valueText(value: unknown): string {
  if (value === null) return "missing";
  return typeof value === "string" ? quote(value) : quote(JSON.stringify(value)).slice(1, -1);
}
