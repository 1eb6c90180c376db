/** Explains the injection of one workload. `explain --json` prints the result unchanged. */
import { criterionOf } from "../contract/criterion.ts";
import type { DrainSettings } from "../contract/drain-settings.ts";
import { formatDuration } from "../contract/duration.ts";
import { MANAGER_CONTAINER } from "../contract/manager-environment.ts";
import { parseServeFlags } from "../contract/serve-flags.ts";
import { findKnownHook } from "../injection/hooks/known-hooks.ts";
import { kindOfHook } from "../injection/hooks/own-hooks.ts";
import { serveFlagsOf } from "../injection/manager/container.ts";
import { type Release, type Selection, selectionOf } from "../injection/opt-in/selection.ts";
import { findExistingInjection } from "../injection/record/existing-injection.ts";
import { findPreload } from "../injection/record/preload-in-pod.ts";
import type { ClusterFacts } from "../injection/request.ts";
import { containersOf, initContainersOf, nameOf } from "../kubernetes/pod.ts";
import { isRawObject, objectAt } from "../kubernetes/raw-json.ts";
import { isAtLeast, parseVersion } from "../kubernetes/version.ts";
import type { Row } from "../policy/field-rows.ts";
import { ANNOTATIONS, FIELDS, type Field, type PodPolicy } from "../policy/fields.ts";
import {
  driverLimit,
  effectiveDriver,
  expectedShutdown,
  type GraceArithmetic,
  graceArithmetic,
  type Moment,
  sleepModeShutdown,
} from "./expected-shutdown.ts";
import { FLAG_LAYER } from "./policy-flags.ts";
import type { ExplainRequest } from "./request.ts";
import type { Decision } from "./transform.ts";
import { graceSecondsOf, outcomeText, type WorkloadReport } from "./workload-report.ts";

type ExplainedValue = { readonly name: string; readonly value: string; readonly origin: string };

export type WorkloadExplanation = {
  readonly workload: WorkloadReport;
  readonly decision: string;
  readonly assumed?: string;
  readonly values: readonly ExplainedValue[];
  /** `grace`, `timeline` and `holds` are absent if nothing is injected. */
  readonly grace?: GraceArithmetic;
  readonly timeline?: readonly Moment[];
  readonly holds?: readonly string[];
  /** The containers' own preStop hooks that are replaced, with the reasons; absent if there are none. */
  readonly replaces?: readonly string[];
  /** Containers with the preload library, which closes keep-alive connections; absent if there are none. */
  readonly loads?: readonly string[];
  readonly limit?: string;
};

export function explain(decision: Decision, { facts, release }: ExplainRequest): WorkloadExplanation {
  const selection = selectionFor(decision, release);
  if (selection.kind === "not-selected") return explainUnselected(decision, selection.because);
  const injectionExplanation = explainInjection(decision, facts);
  return selection.kind === "selected"
    ? injectionExplanation
    : { ...injectionExplanation, assumed: assumptionText(decision.report.namespace) };
}

/** Selectors do not matter for a Pod that is injected already or opts out. */
function selectionFor({ pod, outcome, namespaceLabels }: Decision, release: Release): Selection {
  const isDecided = outcome.kind === "unchanged" && ["disabled", "up_to_date"].includes(outcome.reason);
  if (isDecided || findExistingInjection(pod) !== undefined) return { kind: "selected" };
  return selectionOf(pod, namespaceLabels, release);
}

function assumptionText(namespace: string): string {
  return `namespace ${namespace}, which is not among the manifests, opts in`;
}

function explainUnselected(decision: Decision, reason: string): WorkloadExplanation {
  const { graceSeconds: _unchanged, mode: _none, ...report } = decision.report;
  return {
    workload: { ...report, outcome: "skipped", reason: "not_enabled", because: reason },
    decision: `not injected, because ${reason}`,
    values: explainedValues(decision, {}),
  };
}

function explainInjection(decision: Decision, facts: ClusterFacts): WorkloadExplanation {
  const { report, outcome } = decision;
  const pod = outcome.kind === "patched" ? outcome.pod : decision.pod;
  const settings = managerSettings(pod);
  const reason = modeReason(decision, facts, originOf("mode", decision));
  const base = {
    workload: report,
    decision: outcomeText(report) + reason,
    values: explainedValues(decision, effectiveValues(decision, settings)),
  };
  const afterSeconds = graceSecondsOf(pod);
  if (settings !== undefined) {
    const grace = graceArithmetic(settings, afterSeconds);
    const limit = driverLimit(settings);
    const holds = settings.hooks.map(({ container, role }) => `${container} (${role})`);
    return {
      ...base,
      grace,
      holds,
      ...replacedHooks(decision.pod, settings),
      ...preloadingContainers(pod),
      timeline: expectedShutdown(settings, afterSeconds),
      ...(limit === undefined ? {} : { limit }),
    };
  }
  if (outcome.kind !== "patched") return base;
  const { drainDelayMs, deregistrationDelayMs } = outcome.explanation.policy;
  const timeline = sleepModeShutdown(drainDelayMs + deregistrationDelayMs, afterSeconds);
  return { ...base, timeline, limit: SLEEP_MODE_LIMIT };
}

function replacedHooks(pod: object, { hooks, driver }: DrainSettings): Pick<WorkloadExplanation, "replaces"> {
  if (!isRawObject(pod)) return {};
  const recordedHooks = findExistingInjection(pod)?.record.preStop;
  const replaces = containersOf(pod).flatMap((container) => {
    const name = nameOf(container);
    const hook =
      recordedHooks === undefined
        ? objectAt(objectAt(container, "lifecycle"), "preStop")
        : objectAt(recordedHooks, name);
    if (hook === undefined || !hooks.some((held) => held.container === name)) return [];
    const reason = findKnownHook(pod, container, hook, driver)?.reason ?? "Set by lastcall.dev/prestop.";
    return [`${kindOfHook(hook)} of ${name}: ${reason}`];
  });
  return replaces.length === 0 ? {} : { replaces };
}

function preloadingContainers(pod: object): Pick<WorkloadExplanation, "loads"> {
  const preload = isRawObject(pod) ? findPreload(pod) : undefined;
  return preload === undefined ? {} : { loads: [...preload.positions.keys()] };
}

const SLEEP_MODE_LIMIT =
  "Mode sleep waits a fixed time and does not observe traffic, so the app has to finish the requests that are still open after that time.";

function managerSettings(pod: object): DrainSettings | undefined {
  if (!isRawObject(pod)) return undefined;
  const manager = [...initContainersOf(pod), ...containersOf(pod)].find((c) => nameOf(c) === MANAGER_CONTAINER);
  const flags = serveFlagsOf(manager);
  return flags.length === 0 ? undefined : parseServeFlags(flags).settings;
}

type EffectiveValues = Partial<Readonly<Record<Field, string>>>;

function explainedValues(decision: Decision, effective: EffectiveValues): readonly ExplainedValue[] {
  return FIELDS.map((field) => {
    const configuredText = configuredValueText(field, decision.explanation.policy);
    const effectiveText = effective[field] ?? configuredText;
    const value = effectiveText === configuredText ? configuredText : `${configuredText} → ${effectiveText}`;
    return { name: ANNOTATIONS[field].name, value, origin: originOf(field, decision) };
  });
}

function effectiveValues({ outcome }: Decision, settings: DrainSettings | undefined): EffectiveValues {
  const mode = outcome.kind === "patched" ? { mode: outcome.mode } : {};
  if (settings === undefined) return mode;
  return {
    ...mode,
    driver: effectiveDriver(settings),
    ...(settings.driverUrl === "" ? {} : { driverUrl: settings.driverUrl }),
    drainDelayMs: formatDuration(settings.drainDelayMs),
    port: String(settings.port),
    drainedWhen: criterionOf(settings),
    shutdown: settings.shutdown,
  };
}

function originOf(field: Field, { explanation }: Decision): string {
  return explanation.origins[field].replace(`pod ${FLAG_LAYER}`, FLAG_LAYER);
}

function configuredValueText<K extends Field>(field: K, policy: PodPolicy): string {
  const row: Row<PodPolicy[K]> = ANNOTATIONS[field];
  const value = row.codec.format(policy[field]);
  return value === "" ? (row.fallbackDescription ?? "–") : value;
}

function modeReason({ outcome, explanation }: Decision, facts: ClusterFacts, origin: string): string {
  if (outcome.kind !== "patched") return "";
  const { mode } = outcome;
  if (mode === explanation.policy.mode) return `, as set by mode (${origin})`;
  const { apiServerVersion: server, lowestKubeletVersion: kubelet } = facts;
  if (mode === "native") return `, because API server ${server} supports native sidecars`;
  const version = parseVersion(server);
  if (version !== undefined && isAtLeast(version, 1, 32))
    return ", because this Pod already has the manager as a regular container";
  const nodes = kubelet === undefined ? "unknown kubelets" : `kubelets of version ${kubelet} or later`;
  return `, because API server ${server} with ${nodes} may not support native sidecars`;
}
