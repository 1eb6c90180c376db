/** Computes the grace period, and reports where it is too long for autoscalers or spot nodes. */
import type { DrainSettings } from "../../contract/drain-settings.ts";
import { formatDuration } from "../../contract/duration.ts";
import { requiredNodeTerms } from "../../kubernetes/pod.ts";
import { isAbsent, listAt, objectAt, objectsAt, type RawObject, textAt } from "../../kubernetes/raw-json.ts";
import type { Problem } from "../../policy/problem.ts";

/** Covers signals, late hook starts, and the exit of containers after the deadline. */
const MARGIN_SECONDS = 5;

/** Kubelets and container runtimes use 32 bits. */
export const GRACE_LIMIT_SECONDS = 2_147_483_647;

/** Default of cluster-autoscaler's `--max-graceful-termination-sec`. */
const AUTOSCALER_WAIT_SECONDS = 600;

type Spans = Pick<DrainSettings, "drainDelayMs" | "deregistrationDelayMs" | "drainTimeoutMs">;

/**
 * Adds the drain to the app's own time after SIGTERM.
 *
 * @returns whole seconds, rounded up, never less than the original
 */
export function gracePeriodSeconds(originalSeconds: number, spans: Spans, chainSeconds: number): number {
  const drainSeconds = Math.ceil((spans.drainDelayMs + spans.deregistrationDelayMs + spans.drainTimeoutMs) / 1_000);
  const wanted = originalSeconds + drainSeconds + chainSeconds + MARGIN_SECONDS;
  return Math.max(originalSeconds, Math.min(GRACE_LIMIT_SECONDS, wanted));
}

/**
 * Cuts the spans to fit the maximum grace period: the timeout first, then the deregistration delay, then the drain delay.
 */
export function fitSpans(originalSeconds: number, spans: Spans, chainSeconds: number): Spans {
  const roomMs = Math.max(0, GRACE_LIMIT_SECONDS - originalSeconds - chainSeconds - MARGIN_SECONDS) * 1_000;
  const drainDelayMs = writableMs(Math.min(spans.drainDelayMs, roomMs));
  const deregistrationDelayMs = writableMs(Math.min(spans.deregistrationDelayMs, roomMs - drainDelayMs));
  const drainTimeoutMs = writableMs(Math.min(spans.drainTimeoutMs, roomMs - drainDelayMs - deregistrationDelayMs));
  return { drainDelayMs, deregistrationDelayMs, drainTimeoutMs };
}

export function writableMs(spanMs: number): number {
  if (spanMs >= 0 && spanMs < 1_000_000) return Math.floor(spanMs);
  for (const unitMs of UNITS_MS) {
    const whole = Math.floor(spanMs / unitMs) * unitMs;
    if (/^[0-9]{1,6}[a-z]+$/.test(formatDuration(whole))) return whole;
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

/** Only a warning: most Pods there end by rollouts, which allow the whole grace period. */
function shortNoticeProblems(pod: RawObject, seconds: number, where: string): readonly Problem[] {
  const notice = shortNoticeOf(pod);
  if (notice === undefined || seconds <= notice.seconds) return [];
  const message =
    `Such a node ends ${notice.seconds} s after its notice, and the grace period is ${seconds} s. ` +
    "Set lastcall.dev/profile: spot, or a shorter drain-timeout or grace period.";
  return [{ code: "short_notice", where: `${where}, ${notice.from}`, message }];
}

type ShortNotice = {
  /** Shortest time from the notice to the end of the node. */
  readonly seconds: number;
  readonly from: string;
};

type Capacity = { readonly label: string; readonly value: string; readonly noticeSeconds: number };

/** Labels of spot nodes, which are also the keys of their taints. Karpenter's notice is that of AWS. */
const CAPACITIES: readonly Capacity[] = [
  { label: "cloud.google.com/gke-spot", value: "true", noticeSeconds: 30 },
  { label: "cloud.google.com/gke-preemptible", value: "true", noticeSeconds: 30 },
  { label: "kubernetes.azure.com/scalesetpriority", value: "spot", noticeSeconds: 30 },
  { label: "eks.amazonaws.com/capacityType", value: "SPOT", noticeSeconds: 120 },
  { label: "karpenter.sh/capacity-type", value: "spot", noticeSeconds: 120 },
];

/** The shortest notice of all spot nodes that the Pod selects or tolerates. A toleration of all taints does not count. */
export function shortNoticeOf(pod: RawObject): ShortNotice | undefined {
  const found = CAPACITIES.flatMap((capacity) => {
    const place = placeNaming(pod, capacity);
    return place === undefined ? [] : [{ seconds: capacity.noticeSeconds, from: `${place} ${capacity.label}` }];
  });
  return found.sort((one, other) => one.seconds - other.seconds)[0];
}

function placeNaming(pod: RawObject, { label, value }: Capacity): string | undefined {
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
