/** What happened to one workload, for people and for machines. */
import type { Mode, Outcome } from "../injection/outcome.ts";
import { SKIP_REASONS, type SkipReason } from "../injection/outcome.ts";
import { DEFAULT_GRACE_SECONDS } from "../kubernetes/pod.ts";
import type { PodPlace } from "../kubernetes/pod-template.ts";
import { isRawObject, objectAt, wholeNumberAt } from "../kubernetes/raw-json.ts";
import type { Problem } from "../policy/problem.ts";
import { wrongPart } from "./pod-shape.ts";
import { printable } from "./printable.ts";

export type WorkloadReport = {
  readonly file: string;
  readonly document: number;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** The path of its Pod template, where the object has several. */
  readonly template?: string;
  readonly outcome: "injected" | "skipped" | "refused" | "uninjected" | "not-injected";
  readonly mode?: Mode;
  readonly reason?: SkipReason;
  /** A sentence: why it was skipped or refused. */
  readonly because?: string;
  readonly graceSeconds?: { readonly before: number; readonly after: number };
  readonly problems: readonly Problem[];
};

export type WorkloadName = Pick<WorkloadReport, "file" | "document" | "kind" | "namespace" | "name" | "template">;

export function injectionReport(name: WorkloadName, place: PodPlace, outcome: Outcome): WorkloadReport {
  // The problems of a Namespace are reported once, at its document.
  const problems = outcome.explanation.problems.filter(({ where }) => !where.startsWith("namespace "));
  if (outcome.kind === "refused") return { ...name, outcome: "refused", because: outcome.message, problems };
  if (outcome.kind === "unchanged") {
    return { ...name, outcome: "skipped", reason: outcome.reason, because: becauseOf(outcome.reason, place), problems };
  }
  const graceSeconds = { before: graceOf(place.pod), after: graceOf(outcome.pod) };
  return { ...name, outcome: "injected", mode: outcome.mode, graceSeconds, problems };
}

/** The reason's sentence; of a broken Pod also its first broken part. */
function becauseOf(reason: SkipReason, place: PodPlace): string {
  const part = reason === "invalid_pod" ? wrongPart(place.pod) : undefined;
  return part === undefined ? SKIP_REASONS[reason] : `${SKIP_REASONS[reason]}: ${part}`;
}

export function graceOf(pod: unknown): number {
  const spec = isRawObject(pod) ? objectAt(pod, "spec") : undefined;
  return wholeNumberAt(spec, "terminationGracePeriodSeconds") ?? DEFAULT_GRACE_SECONDS;
}

/** One line for the outcome and one for each problem. */
export function reportLines(report: WorkloadReport): readonly string[] {
  const warnings = report.problems.map(({ where, message }) => `  ${where}: ${message}`);
  return [`${titleOf(report)}: ${outcomeText(report)}`, ...warnings].map(printable);
}

export function titleOf({ kind, namespace, name, template }: WorkloadName): string {
  return `${kind} ${namespace}/${name === "" ? "(no name)" : name}${template === undefined ? "" : `, ${template}`}`;
}

export function outcomeText(report: WorkloadReport): string {
  if (report.outcome === "injected") {
    const grace = report.graceSeconds;
    return `injected ${report.mode}${grace === undefined ? "" : `, grace ${grace.before} → ${grace.after} s`}`;
  }
  if (report.outcome === "skipped") return `skipped (${report.reason}): ${report.because}`;
  if (report.outcome === "refused") return `refused: ${report.because}`;
  if (report.outcome === "uninjected") return "uninjected";
  return "not injected, left as it is";
}
