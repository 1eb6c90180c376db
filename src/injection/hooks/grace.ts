/** Computes the grace period, and reports a grace period that is too long for autoscalers or spot nodes. */
import type { DrainSettings } from "../../contract/drain-settings.ts";
import { formatDuration } from "../../contract/duration.ts";
import { requiredNodeTerms } from "../../kubernetes/pod.ts";
import { isAbsent, listAt, objectAt, objectsAt, type RawObject, textAt } from "../../kubernetes/raw-json.ts";
import type { Problem } from "../../policy/problem.ts";

/** Time for signals, late hook starts, and the exit of containers after the deadline. */
const MARGIN_SECONDS = 5;

/** Kubelets and container runtimes store the grace period in a signed 32-bit integer. */
export const GRACE_LIMIT_SECONDS = 2_147_483_647;

/** Default of cluster-autoscaler's `--max-graceful-termination-sec`. */
const AUTOSCALER_WAIT_SECONDS = 600;

type DrainTimes = Pick<DrainSettings, "drainDelayMs" | "deregistrationDelayMs" | "drainTimeoutMs">;

/**
 * Adds the drain's maximum time to the original grace period, which remains for the app after SIGTERM.
 *
 * @returns whole seconds, rounded up, at least the original grace period
 */
export function gracePeriodSeconds(originalSeconds: number, times: DrainTimes, chainSeconds: number): number {
  const drainSeconds = Math.ceil((times.drainDelayMs + times.deregistrationDelayMs + times.drainTimeoutMs) / 1_000);
  const neededSeconds = originalSeconds + drainSeconds + chainSeconds + MARGIN_SECONDS;
  return Math.max(originalSeconds, Math.min(GRACE_LIMIT_SECONDS, neededSeconds));
}

/** Shortens the times to fit the maximum grace period: the timeout first, then the deregistration delay, then the drain delay. */
export function fitDrainTimes(originalSeconds: number, times: DrainTimes, chainSeconds: number): DrainTimes {
  const availableMs = Math.max(0, GRACE_LIMIT_SECONDS - originalSeconds - chainSeconds - MARGIN_SECONDS) * 1_000;
  const drainDelayMs = representableMs(Math.min(times.drainDelayMs, availableMs));
  const deregistrationDelayMs = representableMs(Math.min(times.deregistrationDelayMs, availableMs - drainDelayMs));
  const drainTimeoutMs = representableMs(
    Math.min(times.drainTimeoutMs, availableMs - drainDelayMs - deregistrationDelayMs),
  );
  return { drainDelayMs, deregistrationDelayMs, drainTimeoutMs };
}

/** Rounds down to a duration that a flag can express: at most six digits and one unit. */
export function representableMs(timeMs: number): number {
  if (timeMs >= 0 && timeMs < 1_000_000) return Math.floor(timeMs);
  for (const unitMs of UNITS_MS) {
    const roundedMs = Math.floor(timeMs / unitMs) * unitMs;
    if (/^[0-9]{1,6}[a-z]+$/.test(formatDuration(roundedMs))) return roundedMs;
  }
  return LONGEST_MS;
}

const UNITS_MS: readonly number[] = [1, 1_000, 60_000, 3_600_000];
const LONGEST_MS = 999_999 * 3_600_000;

export function graceProblems(pod: RawObject, seconds: number, where: string): readonly Problem[] {
  return [...longGraceProblems(seconds, where), ...shortNoticeProblems(pod, seconds, where)];
}

function longGraceProblems(seconds: number, where: string): readonly Problem[] {
  if (seconds <= AUTOSCALER_WAIT_SECONDS) return [];
  const message = `The grace period of ${seconds} s is longer than the 600 s that cluster-autoscaler waits by default. Shorten lastcall.dev/drain-timeout.`;
  return [{ code: "long_grace", where: `${where}, terminationGracePeriodSeconds`, message }];
}

/** Only a warning: most Pods on spot nodes end in rollouts, which allow the whole grace period. */
function shortNoticeProblems(pod: RawObject, seconds: number, where: string): readonly Problem[] {
  const notice = interruptionNoticeOf(pod);
  if (notice === undefined || seconds <= notice.seconds) return [];
  const message =
    `A spot or preemptible node stops ${notice.seconds} s after its interruption notice, and the grace period is ${seconds} s. ` +
    "Set lastcall.dev/profile: spot, or shorten lastcall.dev/drain-timeout or the grace period.";
  return [{ code: "short_notice", where: `${where}, ${notice.field}`, message }];
}

type InterruptionNotice = {
  /** Minimum time from the cloud's interruption notice to the end of the node. */
  readonly seconds: number;
  /** Field and label that select or tolerate the spot node. */
  readonly field: string;
};

type SpotCapacity = { readonly label: string; readonly value: string; readonly noticeSeconds: number };

/** Labels of spot nodes; their taints have the same keys. For Karpenter the notice time of AWS applies. */
const SPOT_CAPACITIES: readonly SpotCapacity[] = [
  { label: "cloud.google.com/gke-spot", value: "true", noticeSeconds: 30 },
  { label: "cloud.google.com/gke-preemptible", value: "true", noticeSeconds: 30 },
  { label: "kubernetes.azure.com/scalesetpriority", value: "spot", noticeSeconds: 30 },
  { label: "eks.amazonaws.com/capacityType", value: "SPOT", noticeSeconds: 120 },
  { label: "karpenter.sh/capacity-type", value: "spot", noticeSeconds: 120 },
];

/** Returns the shortest notice of all spot nodes that the Pod selects or tolerates. A toleration of all taints does not count. */
export function interruptionNoticeOf(pod: RawObject): InterruptionNotice | undefined {
  const notices = SPOT_CAPACITIES.flatMap((capacity) => {
    const field = matchingField(pod, capacity);
    return field === undefined ? [] : [{ seconds: capacity.noticeSeconds, field: `${field} ${capacity.label}` }];
  });
  return notices.sort((left, right) => left.seconds - right.seconds)[0];
}

function matchingField(pod: RawObject, { label, value }: SpotCapacity): string | undefined {
  const spec = objectAt(pod, "spec");
  if (textAt(objectAt(spec, "nodeSelector"), label) === value) return "nodeSelector";
  const expressions = requiredNodeTerms(pod).flatMap((term) => objectsAt(term, "matchExpressions"));
  if (expressions.some((expression) => mayMatch(expression, label, value))) return "affinity";
  return objectsAt(spec, "tolerations").some((toleration) => tolerates(toleration, label, value))
    ? "toleration"
    : undefined;
}

function mayMatch(expression: RawObject, label: string, value: string): boolean {
  if (textAt(expression, "key") !== label) return false;
  const operator = textAt(expression, "operator");
  return operator === "Exists" || (operator === "In" && listAt(expression, "values").includes(value));
}

function tolerates(toleration: RawObject, label: string, value: string): boolean {
  if (textAt(toleration, "key") !== label) return false;
  const operator = toleration["operator"];
  if (operator === "Exists") return true;
  return (isAbsent(operator) || operator === "Equal") && toleration["value"] === value;
}
