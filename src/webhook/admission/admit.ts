/** Computes the response to one request body, and the fields of its metrics and log line. The caller records them. */
import type { IssueRelayAccess } from "../../contract/relay-access.ts";
import type { ClusterFacts, injectPod, Randomness } from "../../injection/inject.ts";
import type { Outcome } from "../../injection/outcome.ts";
import { allowedText, reviewText } from "../../injection/review.ts";
import type { RawObject } from "../../kubernetes/raw-json.ts";
import type { ClusterConfig } from "../../policy/cluster-config.ts";
import type { Problem } from "../../policy/problem.ts";
import { type MalformedReason, type MetricLabels, NOT_A_POD_CREATION } from "../admission-outcome.ts";
import { type ReviewRequest, readReview } from "./review-request.ts";

/** Annotations of a namespace; empty when they are unknown. `characters`: length of the review that waits for them. */
export type NamespaceAnnotations = (name: string, characters: number) => Promise<Readonly<Record<string, unknown>>>;

/** Records Events about invalid settings of an object that is not injected. Never throws or waits. */
export type ReportSettings = (object: RawObject, namespace: string, problems: readonly Problem[]) => void;

export type AdmissionPorts = {
  readonly namespaceAnnotations: NamespaceAnnotations;
  readonly randomness: Randomness;
  readonly inject: typeof injectPod;
  /** Issues a Pod's credential for the relay; `undefined` if lastcall runs without a relay. */
  readonly issueRelayAccess?: IssueRelayAccess | undefined;
  /** Whether the namespace is missing from the cache; called after `namespaceAnnotations`. */
  readonly namespaceIsUnknown?: (namespace: string) => boolean;
  /** Returns the current facts; called after `namespaceAnnotations`. If absent, `facts` of the rules applies. */
  readonly factsOf?: (namespace: string) => ClusterFacts;
  readonly reportSettings?: ReportSettings;
  /** Called for the outcome of every request except dry runs. Never throws or waits. */
  readonly recordOutcome?: (pod: object, namespace: string, outcome: Outcome) => void;
};

export type AdmissionRules = {
  readonly optIn: "label" | "all";
  readonly config: ClusterConfig;
  readonly facts: ClusterFacts;
};

export type AdmissionResult = {
  readonly status: 200 | 400 | 413 | 415 | 500;
  readonly body: string;
  readonly metricLabels: MetricLabels;
  readonly problems: readonly string[];
  readonly uid: string;
  readonly namespace: string;
  readonly pod: string;
  readonly fault: unknown;
};

/** Never rejects. A fault of the webhook becomes status 500, so that the API server applies the failurePolicy. */
export async function admit(text: string, rules: AdmissionRules, ports: AdmissionPorts): Promise<AdmissionResult> {
  const reading = readReview(text);
  if (reading.kind === "malformed") return malformedResult(reading.reason, reading.message);
  const request = reading.request;
  try {
    if (request.pod === undefined) return allowedResult(request);
    const namespaceAnnotations = await ports.namespaceAnnotations(request.namespace, text.length);
    const { pod, namespace } = request;
    // Any client can send a review with an invented namespace. A credential for an invented namespace would evade the relay's
    // limits per namespace.
    const issueRelayAccess = ports.namespaceIsUnknown?.(namespace) === true ? undefined : ports.issueRelayAccess;
    const input = { pod, namespace, optIn: rules.optIn, namespaceAnnotations, overrides: [], issueRelayAccess };
    const facts = ports.factsOf?.(namespace) ?? rules.facts;
    const outcome = ports.inject(input, rules.config, facts, ports.randomness);
    if (!request.dryRun) ports.recordOutcome?.(pod, namespace, outcome);
    return {
      ...resultBase(request),
      status: 200,
      body: reviewText(request.uid, outcome),
      metricLabels: metricLabelsOf(outcome, request.dryRun),
      problems: outcome.explanation.problems.map((problem) => problem.code),
    };
  } catch (fault) {
    return { ...resultBase(request), ...faultResult(fault), uid: request.uid };
  }
}

export function malformedResult(
  reason: MalformedReason,
  message: string,
  status: AdmissionResult["status"] = 400,
): AdmissionResult {
  const metricLabels: MetricLabels = { outcome: "malformed", reason, mode: "none", dryRun: false };
  return { ...NO_POD, status, body: `${message}\n`, metricLabels };
}

export function tooLargeResult(limitBytes: number): AdmissionResult {
  const metricLabels: MetricLabels = { outcome: "too_large", reason: "none", mode: "none", dryRun: false };
  const body = `The body is larger than the limit of ${limitBytes} bytes.\n`;
  return { ...NO_POD, status: 413, body, metricLabels };
}

export function faultResult(fault: unknown): AdmissionResult {
  const metricLabels: MetricLabels = { outcome: "fault", reason: "none", mode: "none", dryRun: false };
  return { ...NO_POD, status: 500, body: "The webhook failed; see its log for the error.\n", metricLabels, fault };
}

const NO_POD = { uid: "", namespace: "", pod: "", problems: [], fault: undefined } as const;

function resultBase(request: ReviewRequest): Omit<AdmissionResult, "status" | "body" | "metricLabels"> {
  return { ...NO_POD, uid: request.uid, namespace: request.namespace, pod: request.podName };
}

function allowedResult(request: ReviewRequest): AdmissionResult {
  const metricLabels: MetricLabels = {
    outcome: "skipped",
    reason: NOT_A_POD_CREATION,
    mode: "none",
    dryRun: request.dryRun,
  };
  return { ...resultBase(request), status: 200, body: allowedText(request.uid, []), metricLabels };
}

function metricLabelsOf(outcome: Outcome, dryRun: boolean): MetricLabels {
  if (outcome.kind === "patched") return { outcome: "injected", reason: "none", mode: outcome.mode, dryRun };
  if (outcome.kind === "refused") return { outcome: "refused", reason: "none", mode: "none", dryRun };
  return { outcome: "skipped", reason: outcome.reason, mode: "none", dryRun };
}
