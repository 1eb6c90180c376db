/** The closed list of ways a request can end. Every request ends in exactly one; the keys are metric labels and never renamed. */
import type { Mode } from "../injection/outcome.ts";

export const OUTCOMES = {
  injected: "the Pod was changed",
  skipped: "the Pod was left alone; the reason says why",
  refused: "the Pod was refused because the configuration says so",
  checked: "only the settings of the object were checked, since it is not injected",
  malformed: "the request was no admission review this server can read",
  too_large: "the body exceeded the limit",
  fault: "this server failed; the failure policy of the configuration decides",
} as const;

export type OutcomeName = keyof typeof OUTCOMES;

export const MALFORMED_REASONS = {
  wrong_content_type: "the content type is not application/json",
  cut_off: "the connection ended before the body did",
  empty_body: "the body is empty",
  truncated_json: "the body ends before its JSON does",
  invalid_json: "the body is not JSON",
  wrong_kind: "the body is not an AdmissionReview",
  wrong_version: "the review has another version than v1",
  no_request: "the review has no request",
  no_uid: "the request has no uid",
  no_object: "the request to create a Pod has no Pod",
} as const;

export type MalformedReason = keyof typeof MALFORMED_REASONS;

/** Asked about something that is not the creation of a Pod: allowed, and no fault of anybody. */
export const NOT_A_POD_CREATION = "not_a_pod_creation";

/** One request as metrics count it. */
export type Entry = {
  readonly outcome: OutcomeName;
  /** A skip reason, a malformed reason, or `none`. */
  readonly reason: string;
  readonly mode: Mode | "none";
  readonly dryRun: boolean;
};
