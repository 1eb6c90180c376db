/** Whether a Pod is injected, by the checks that need no plan, and in which mode. */
import { MANAGER_CONTAINER } from "../../contract/manager-environment.ts";
import {
  annotationsOf,
  containersOf,
  initContainersOf,
  isForWindows,
  labelsOf,
  nameOf,
  runsToCompletion,
} from "../../kubernetes/pod.ts";
import { objectAt, type RawObject, textAt } from "../../kubernetes/raw-json.ts";
import { isAtLeast, parseVersion } from "../../kubernetes/version.ts";
import type { ModeChoice } from "../../policy/fields.ts";
import { INJECT } from "../../policy/fields.ts";
import type { Problem } from "../../policy/problem.ts";
import { quote } from "../../policy/quote.ts";
import { isManager } from "../manager/container.ts";
import type { Mode, SkipReason } from "../outcome.ts";
import type { ClusterFacts } from "../request.ts";

type Question = {
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
  if (isForWindows(pod)) return "windows";
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

function foreignManager(pod: RawObject): SkipReason | undefined {
  const all = [...initContainersOf(pod), ...containersOf(pod)];
  const taken = all.some((container) => nameOf(container) === MANAGER_CONTAINER && !isManager(container));
  return taken ? "name_taken" : undefined;
}

type ChosenMode = { readonly mode: Mode; readonly problems: readonly Problem[] };

/**
 * `auto` and `sidecar` follow the cluster; a manager that stands already stays what it is, so that two replicas that
 * see the nodes differently do not undo each other's work.
 */
export function chooseMode(
  choice: ModeChoice,
  facts: ClusterFacts,
  existing: "native" | "classic" | undefined,
  where: string,
): ChosenMode {
  const usual = existing !== undefined && isPossible(existing, facts) ? existing : sidecarMode(facts);
  const refusal = refusalOf(choice, facts);
  if (refusal !== undefined) {
    return { mode: usual, problems: [{ code: "unsupported_mode", where, message: `${refusal}; used is ${usual}.` }] };
  }
  const mode = choice === "native" || choice === "classic" || choice === "sleep" ? choice : usual;
  return { mode, problems: [] };
}

/**
 * An API server of 1.32 allows no kubelet older than 1.29, the first that orders sidecars at termination. Between
 * 1.29 and 1.31 the nodes decide, and nodes not seen lately do not count.
 */
function sidecarMode(facts: ClusterFacts): "native" | "classic" {
  const server = parseVersion(facts.apiServerVersion);
  if (server === undefined || !isAtLeast(server, 1, 29)) return "classic";
  if (isAtLeast(server, 1, 32)) return "native";
  const kubelet = parseVersion(facts.lowestKubeletVersion ?? "");
  return kubelet !== undefined && isAtLeast(kubelet, 1, 29) ? "native" : "classic";
}

function isPossible(mode: "native" | "classic", facts: ClusterFacts): boolean {
  const server = parseVersion(facts.apiServerVersion);
  return mode === "classic" || (server !== undefined && isAtLeast(server, 1, 29));
}

function refusalOf(choice: ModeChoice, facts: ClusterFacts): string | undefined {
  switch (choice) {
    case "native": {
      const server = parseVersion(facts.apiServerVersion);
      const isTooOld = server !== undefined && !isAtLeast(server, 1, 29);
      return isTooOld ? `Mode native needs Kubernetes 1.29 or later, this is ${versionsOf(facts)}` : undefined;
    }
    case "sleep": {
      const server = parseVersion(facts.apiServerVersion);
      const kubelet = parseVersion(facts.lowestKubeletVersion ?? "");
      const serverKnowsIt = server !== undefined && isAtLeast(server, 1, 30);
      const nodesKnowIt = kubelet === undefined || isAtLeast(kubelet, 1, 30);
      return serverKnowsIt && nodesKnowIt
        ? undefined
        : `Mode sleep needs Kubernetes 1.30 or later, this is ${versionsOf(facts)}`;
    }
    default:
      return undefined;
  }
}

function versionsOf({ apiServerVersion, lowestKubeletVersion }: ClusterFacts): string {
  const kubelets = lowestKubeletVersion === undefined ? "" : `, kubelets from ${quote(lowestKubeletVersion)}`;
  return `${quote(apiServerVersion)}${kubelets}`;
}
