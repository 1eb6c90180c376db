/** Decides whether and in which mode a Pod is injected, by the checks that do not need a plan. */
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
import type { ModeChoice, PodPolicy } from "../../policy/fields.ts";
import { INJECT } from "../../policy/fields.ts";
import type { Problem } from "../../policy/problem.ts";
import { quote } from "../../policy/quote.ts";
import { isKnativePod } from "../hooks/self-draining.ts";
import { isManager } from "../manager/container.ts";
import type { Mode, SkipReason } from "../outcome.ts";
import type { ClusterFacts } from "../request.ts";

type SkipInput = {
  readonly pod: RawObject;
  readonly namespace: string;
  readonly optIn: "label" | "all";
  /** Resolved from all layers. */
  readonly inject: "enabled" | "disabled";
  /** Whether an override of the command line enables injection. */
  readonly isEnabledByOverride: boolean;
  readonly systemNamespaces: readonly string[];
  readonly mode: Mode;
  readonly preStop: PodPolicy["preStop"];
  readonly hasTooManyContainers: boolean;
};

export function reasonToSkip(input: SkipInput): SkipReason | undefined {
  return reasonOfOptIn(input) ?? reasonOfPod(input);
}

/**
 * | Pod label or annotation | other layers | opt-in | result |
 * |---|---|---|---|
 * | disabled (either one)   | any          | any    | `disabled` |
 * | –                       | disabled     | any    | `disabled` |
 * | label enabled           | any          | any    | next check |
 * | annotation enabled, or – | –           | label  | `not_enabled` |
 * | annotation enabled, or – | –           | all    | next check |
 */
function reasonOfOptIn({ pod, inject, optIn }: SkipInput): SkipReason | undefined {
  const label = textAt(labelsOf(pod), INJECT);
  if (label === "disabled" || textAt(annotationsOf(pod), INJECT) === "disabled") return "disabled";
  if (inject === "disabled" && label !== "enabled") return "disabled";
  return optIn === "label" && label !== "enabled" ? "not_enabled" : undefined;
}

function reasonOfPod(input: SkipInput): SkipReason | undefined {
  const { pod, namespace, systemNamespaces } = input;
  const spec = objectAt(pod, "spec");
  if (systemNamespaces.includes(namespace)) return "system_namespace";
  if (Object.hasOwn(annotationsOf(pod), "kubernetes.io/config.mirror")) return "mirror_pod";
  if (input.hasTooManyContainers) return "too_many_containers";
  if (isForWindows(pod)) return "windows";
  if (spec?.["hostNetwork"] === true) return "host_network";
  if (spec?.["terminationGracePeriodSeconds"] === 0) return "zero_grace";
  if (runsToCompletion(pod)) return reasonOfCompletion(input);
  if (input.preStop === "auto" && isKnativePod(pod)) return "drains_itself";
  return foreignManagerReason(pod);
}

function reasonOfCompletion({ pod, mode, isEnabledByOverride }: SkipInput): SkipReason | undefined {
  const optsIn = [textAt(labelsOf(pod), INJECT), textAt(annotationsOf(pod), INJECT)].includes("enabled");
  if (!optsIn && !isEnabledByOverride) return "runs_to_completion";
  return mode === "classic" ? "classic_would_block_completion" : foreignManagerReason(pod);
}

function foreignManagerReason(pod: RawObject): SkipReason | undefined {
  const allContainers = [...initContainersOf(pod), ...containersOf(pod)];
  const hasForeignManager = allContainers.some(
    (container) => nameOf(container) === MANAGER_CONTAINER && !isManager(container),
  );
  return hasForeignManager ? "name_taken" : undefined;
}

type ChosenMode = { readonly mode: Mode; readonly problems: readonly Problem[] };

/**
 * `auto` and `sidecar` depend on the cluster's versions. An existing manager keeps its mode. Otherwise webhook replicas with
 * different caches could undo each other's patches.
 */
export function chooseMode(
  choice: ModeChoice,
  facts: ClusterFacts,
  existingMode: "native" | "classic" | undefined,
  where: string,
): ChosenMode {
  const defaultMode =
    existingMode !== undefined && isSupported(existingMode, facts) ? existingMode : sidecarMode(facts);
  const refusal = refusalOf(choice, facts);
  if (refusal !== undefined) {
    return {
      mode: defaultMode,
      problems: [{ code: "unsupported_mode", where, message: `${refusal}; mode ${defaultMode} is used.` }],
    };
  }
  const mode = choice === "native" || choice === "classic" || choice === "sleep" ? choice : defaultMode;
  return { mode, problems: [] };
}

/**
 * Kubelets from 1.29 on stop native sidecars after the other containers. API servers from 1.32 on do not support older kubelets.
 * For API servers from 1.29 to 1.31 the kubelets' versions decide.
 */
function sidecarMode(facts: ClusterFacts): "native" | "classic" {
  const server = parseVersion(facts.apiServerVersion);
  if (server === undefined || !isAtLeast(server, 1, 29)) return "classic";
  if (isAtLeast(server, 1, 32)) return "native";
  const kubelet = parseVersion(facts.lowestKubeletVersion ?? "");
  return kubelet !== undefined && isAtLeast(kubelet, 1, 29) ? "native" : "classic";
}

function isSupported(mode: "native" | "classic", facts: ClusterFacts): boolean {
  const server = parseVersion(facts.apiServerVersion);
  return mode === "classic" || (server !== undefined && isAtLeast(server, 1, 29));
}

function refusalOf(choice: ModeChoice, facts: ClusterFacts): string | undefined {
  switch (choice) {
    case "native": {
      const server = parseVersion(facts.apiServerVersion);
      const isTooOld = server !== undefined && !isAtLeast(server, 1, 29);
      return isTooOld ? `Mode native requires Kubernetes 1.29 or later, found ${versionsOf(facts)}` : undefined;
    }
    case "sleep": {
      const server = parseVersion(facts.apiServerVersion);
      const kubelet = parseVersion(facts.lowestKubeletVersion ?? "");
      const serverSupportsSleep = server !== undefined && isAtLeast(server, 1, 30);
      const nodesSupportSleep = kubelet === undefined || isAtLeast(kubelet, 1, 30);
      return serverSupportsSleep && nodesSupportSleep
        ? undefined
        : `Mode sleep requires Kubernetes 1.30 or later, found ${versionsOf(facts)}`;
    }
    default:
      return undefined;
  }
}

function versionsOf({ apiServerVersion, lowestKubeletVersion }: ClusterFacts): string {
  const kubelets = lowestKubeletVersion === undefined ? "" : `, oldest kubelet ${quote(lowestKubeletVersion)}`;
  return `API server ${quote(apiServerVersion)}${kubelets}`;
}
