/** Declares the outcomes of requests; each request has exactly one. The keys are values of metric labels and stay stable. */
import type { Mode } from "../injection/outcome.ts";

export const OUTCOMES = {
  injected: "the Pod was changed",
  skipped: "the Pod was not changed; the reason states why",
  refused: "the Pod was refused, because an annotation has an invalid value, and onInvalid is set to deny",
  checked: "the settings of an object that is not injected were checked",
  malformed: "the request was not a valid AdmissionReview",
  too_large: "the request body was larger than its limit",
  fault: "the webhook failed; the failurePolicy of its configuration applies",
} as const;

export type OutcomeName = keyof typeof OUTCOMES;

export const MALFORMED_REASONS = {
  wrong_content_type: "the content type is not application/json",
  cut_off: "the connection closed before the end of the body",
  empty_body: "the body is empty",
  truncated_json: "the body ends with incomplete JSON",
  invalid_json: "the body is not JSON",
  wrong_kind: "the body is not an AdmissionReview",
  wrong_version: "the apiVersion is not admission.k8s.io/v1",
  no_request: "the review has no request",
  no_uid: "the request has no uid",
  no_object: "the request to create a Pod has no Pod",
} as const;

export type MalformedReason = keyof typeof MALFORMED_REASONS;

/** The request was not the creation of a Pod, and was allowed. */
export const NOT_A_POD_CREATION = "not_a_pod_creation";

export type MetricLabels = {
  readonly outcome: OutcomeName;
  readonly reason: string;
  readonly mode: Mode | "none";
  readonly dryRun: boolean;
};
