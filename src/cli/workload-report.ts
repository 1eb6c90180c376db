/** Reports the outcome of one workload as data and text. */
import { isDnsLabel } from "../contract/untrusted-text.ts";
import { type Mode, type Outcome, SKIP_REASONS, type SkipReason } from "../injection/outcome.ts";
import { ANNOTATIONS_LIMIT_BYTES, annotationCharacters, DEFAULT_GRACE_SECONDS } from "../kubernetes/pod.ts";
import type { LocatedPod } from "../kubernetes/pod-template.ts";
import {
  isAbsent,
  isRawObject,
  listAt,
  objectAt,
  type RawObject,
  valueAt,
  wholeNumberAt,
} from "../kubernetes/raw-json.ts";
import type { Problem } from "../policy/problem.ts";
import { quote } from "../policy/quote.ts";
import { printable } from "./terminal-text.ts";

export type WorkloadReport = {
  readonly file: string;
  readonly document: number;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly template?: string;
  readonly outcome: "injected" | "skipped" | "refused" | "uninjected" | "not-injected";
  readonly mode?: Mode;
  readonly reason?: SkipReason;
  readonly because?: string;
  readonly graceSeconds?: { readonly before: number; readonly after: number };
  readonly problems: readonly Problem[];
};

export type WorkloadName = Pick<WorkloadReport, "file" | "document" | "kind" | "namespace" | "name" | "template">;

export function injectionReport(name: WorkloadName, locatedPod: LocatedPod, outcome: Outcome): WorkloadReport {
  // Problems of a Namespace are reported once, for its own document.
  const problems = outcome.explanation.problems.filter(({ where }) => !where.startsWith("namespace "));
  if (outcome.kind === "refused") return { ...name, outcome: "refused", because: outcome.message, problems };
  if (outcome.kind === "unchanged") {
    return {
      ...name,
      outcome: "skipped",
      reason: outcome.reason,
      because: skipReasonText(outcome.reason, locatedPod),
      problems,
    };
  }
  const graceSeconds = { before: graceSecondsOf(locatedPod.pod), after: graceSecondsOf(outcome.pod) };
  return { ...name, outcome: "injected", mode: outcome.mode, graceSeconds, problems };
}

function skipReasonText(reason: SkipReason, locatedPod: LocatedPod): string {
  const invalidField = reason === "invalid_pod" ? podProblem(locatedPod.pod) : undefined;
  return invalidField === undefined ? SKIP_REASONS[reason] : `${SKIP_REASONS[reason]}: ${invalidField}`;
}

export function graceSecondsOf(pod: unknown): number {
  const spec = isRawObject(pod) ? objectAt(pod, "spec") : undefined;
  return wholeNumberAt(spec, "terminationGracePeriodSeconds") ?? DEFAULT_GRACE_SECONDS;
}

export function reportLines(report: WorkloadReport): readonly string[] {
  const warnings = report.problems.map(({ where, message }) => `  ${where}: ${message}`);
  return [`${workloadTitle(report)}: ${outcomeText(report)}`, ...warnings].map(printable);
}

export function workloadTitle({ kind, namespace, name, template }: WorkloadName): string {
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
  return "not injected, left unchanged";
}

/** Describes the first invalid field for which the injector refuses the Pod. */
export function podProblem(pod: unknown): string | undefined {
  if (!isRawObject(pod)) return problemAt("the Pod", pod, "a mapping");
  const metadata = objectAt(pod, "metadata");
  const spec = objectAt(pod, "spec");
  return (
    mappingProblem(pod, "metadata", "") ??
    mappingProblem(metadata, "annotations", "metadata.") ??
    mappingProblem(metadata, "labels", "metadata.") ??
    annotationsLengthProblem(pod) ??
    (spec === undefined ? problemAt("spec", valueAt(pod, "spec"), "a mapping") : specProblem(spec))
  );
}

function annotationsLengthProblem(pod: RawObject): string | undefined {
  const characterCount = annotationCharacters(pod);
  if (characterCount <= ANNOTATIONS_LIMIT_BYTES) return undefined;
  return `metadata.annotations has ${characterCount} characters, expected at most ${ANNOTATIONS_LIMIT_BYTES}`;
}

function specProblem(spec: RawObject): string | undefined {
  const grace = valueAt(spec, "terminationGracePeriodSeconds");
  if (!isAbsent(grace) && !(typeof grace === "number" && Number.isSafeInteger(grace) && grace >= 0))
    return problemAt("spec.terminationGracePeriodSeconds", grace, "a whole number of seconds");
  const containers = valueAt(spec, "containers");
  if (!Array.isArray(containers)) return problemAt("spec.containers", containers, "a list");
  if (containers.length === 0) return "spec.containers is empty, expected at least one container";
  const initContainers = valueAt(spec, "initContainers");
  if (!isAbsent(initContainers) && !Array.isArray(initContainers))
    return problemAt("spec.initContainers", initContainers, "a list");
  return containersProblem(spec);
}

function containersProblem(spec: RawObject): string | undefined {
  const names = new Set<string>();
  for (const listKey of ["containers", "initContainers"]) {
    for (const [index, container] of listAt(spec, listKey).entries()) {
      const place = `spec.${listKey}[${index}]`;
      if (!isRawObject(container)) return problemAt(place, container, "a mapping");
      const containerProblem = nameProblem(place, container) ?? fieldsProblem(place, container);
      if (containerProblem !== undefined) return containerProblem;
      const name = String(container["name"]);
      if (names.has(name)) return `${place}.name is ${quote(name)} more than once, expected unique names`;
      names.add(name);
    }
  }
  return undefined;
}

function nameProblem(place: string, container: RawObject): string | undefined {
  const name = container["name"];
  if (typeof name !== "string") return problemAt(`${place}.name`, name, "a string");
  if (isDnsLabel(name)) return undefined;
  return `${place}.name is ${quote(name)}, expected at most 63 characters of a-z, 0-9 and - (no - at the ends)`;
}

function fieldsProblem(place: string, container: RawObject): string | undefined {
  return (
    mappingProblem(container, "lifecycle", `${place}.`) ??
    mappingProblem(objectAt(container, "lifecycle"), "preStop", `${place}.lifecycle.`) ??
    mappingProblem(container, "livenessProbe", `${place}.`) ??
    mappingProblem(container, "startupProbe", `${place}.`) ??
    mappingProblem(container, "resources", `${place}.`)
  );
}

function mappingProblem(parent: RawObject | undefined, key: string, parentPath: string): string | undefined {
  const value = valueAt(parent, key);
  return isAbsent(value) || isRawObject(value) ? undefined : problemAt(parentPath + key, value, "a mapping");
}

function problemAt(place: string, value: unknown, expected: string): string {
  return `${place} is ${describeType(value)}, expected ${expected}`;
}

function describeType(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a mapping";
  if (typeof value === "string") return `the string ${quote(value)}`;
  return typeof value === "number" ? `the number ${value}` : String(value);
}
