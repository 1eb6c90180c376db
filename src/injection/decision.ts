/** Whether a Pod is injected at all: the checks that need no plan, in the order of SKIP_REASONS. */
import { MANAGER_CONTAINER } from "../contract/manager-environment.ts";
import {
  annotationsOf,
  containersOf,
  initContainersOf,
  labelsOf,
  nameOf,
  runsToCompletion,
} from "../kubernetes/pod.ts";
import { listAt, objectAt, objectsAt, type RawObject, textAt } from "../kubernetes/raw-json.ts";
import { ANNOTATIONS, PREFIX } from "../policy/annotation-table.ts";
import type { Problem } from "../policy/problem.ts";
import { quote } from "../policy/quote.ts";
import { isManager } from "./manager-container.ts";
import type { Mode, SkipReason } from "./outcome.ts";

export type Question = {
  readonly pod: RawObject;
  readonly namespace: string;
  readonly optIn: "label" | "all";
  /** After all layers. */
  readonly inject: "enabled" | "disabled";
  /** A layer nearer than the Pod says `enabled`. */
  readonly overridden: boolean;
  readonly systemNamespaces: readonly string[];
  readonly mode: Mode;
  readonly tooManyContainers: boolean;
};

const INJECT = `${PREFIX}${ANNOTATIONS.inject.name}`;

export function reasonToSkip(question: Question): SkipReason | undefined {
  return reasonOfPeople(question) ?? reasonOfPod(question);
}

/**
 * | Pod label or annotation | other layers | opt-in | result |
 * |---|---|---|---|
 * | disabled (either one)   | any          | any    | `disabled` |
 * | –                       | disabled     | any    | `disabled` |
 * | label enabled           | any          | any    | goes on |
 * | annotation enabled, or – | –           | label  | `not_enabled` |
 * | annotation enabled, or – | –           | all    | goes on |
 */
function reasonOfPeople({ pod, inject, optIn }: Question): SkipReason | undefined {
  const label = textAt(labelsOf(pod), INJECT);
  if (label === "disabled" || textAt(annotationsOf(pod), INJECT) === "disabled") return "disabled";
  if (inject === "disabled" && label !== "enabled") return "disabled";
  return optIn === "label" && label !== "enabled" ? "not_enabled" : undefined;
}

function reasonOfPod(question: Question): SkipReason | undefined {
  const { pod, namespace, systemNamespaces } = question;
  const spec = objectAt(pod, "spec");
  if (systemNamespaces.includes(namespace)) return "system_namespace";
  if (Object.hasOwn(annotationsOf(pod), "kubernetes.io/config.mirror")) return "mirror_pod";
  if (question.tooManyContainers) return "too_many_containers";
  if (isForWindows(spec)) return "windows";
  if (spec?.["hostNetwork"] === true) return "host_network";
  if (spec?.["terminationGracePeriodSeconds"] === 0) return "zero_grace";
  if (runsToCompletion(pod)) return reasonOfCompletion(question);
  return foreignManager(pod);
}

function reasonOfCompletion({ pod, mode, overridden }: Question): SkipReason | undefined {
  const asked = [textAt(labelsOf(pod), INJECT), textAt(annotationsOf(pod), INJECT)].includes("enabled");
  if (!asked && !overridden) return "runs_to_completion";
  return mode === "classic" ? "classic_would_block_completion" : foreignManager(pod);
}

/** The label is not an annotation, so the table's resolver never sees it. */
export function labelProblems(pod: RawObject, where: string): readonly Problem[] {
  const label = labelsOf(pod)[INJECT];
  if (label === undefined || label === null || label === "enabled" || label === "disabled") return [];
  const got = typeof label === "string" ? quote(label) : `a ${typeof label}`;
  const message = `Got ${got}, expected ${ANNOTATIONS.inject.codec.expects}.`;
  return [{ code: "bad_value", where: `${where}, label ${INJECT}`, message }];
}

function foreignManager(pod: RawObject): SkipReason | undefined {
  const all = [...initContainersOf(pod), ...containersOf(pod)];
  const taken = all.some((container) => nameOf(container) === MANAGER_CONTAINER && !isManager(container));
  return taken ? "name_taken" : undefined;
}

const OS_LABELS: readonly string[] = ["kubernetes.io/os", "beta.kubernetes.io/os"];

/** Said outright, by node selector, or by every term of a required affinity; anything less counts as Linux. */
function isForWindows(spec: RawObject | undefined): boolean {
  if (textAt(objectAt(spec, "os"), "name") === "windows") return true;
  const selector = objectAt(spec, "nodeSelector");
  if (OS_LABELS.some((label) => textAt(selector, label) === "windows")) return true;
  const required = objectAt(
    objectAt(objectAt(spec, "affinity"), "nodeAffinity"),
    "requiredDuringSchedulingIgnoredDuringExecution",
  );
  const terms = objectsAt(required, "nodeSelectorTerms");
  return terms.length > 0 && terms.every((term) => objectsAt(term, "matchExpressions").some(demandsWindows));
}

function demandsWindows(expression: RawObject): boolean {
  const values = listAt(expression, "values");
  return (
    OS_LABELS.includes(textAt(expression, "key") ?? "") &&
    textAt(expression, "operator") === "In" &&
    values.length > 0 &&
    values.every((value) => value === "windows")
  );
}
