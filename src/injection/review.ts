/** Builds the AdmissionReview response for an outcome. */
import { plainText } from "../contract/untrusted-text.ts";
import type { Problem } from "../policy/problem.ts";
import { type Outcome, SKIP_REASONS, type SkipReason } from "./outcome.ts";

/** API servers truncate longer warnings, if all warnings of a response together are too long. A shorter limit would cut off remedies. */
const WARNING_LIMIT_CHARACTERS = 256;

/** HTTP's Unprocessable Entity. */
const REFUSED_STATUS = 422;

const UNEXPECTED_REASONS: readonly SkipReason[] = [
  "host_network",
  "zero_grace",
  "classic_would_block_completion",
  "name_taken",
  "port_conflict",
  "own_hooks",
  "limit_range_conflict",
  "image_unpullable",
  "invalid_value",
  "too_many_containers",
  "patch_too_large",
];

export function isUnexpected(reason: SkipReason): boolean {
  return UNEXPECTED_REASONS.includes(reason);
}

export function allowedText(uid: string, problems: readonly Problem[]): string {
  return JSON.stringify(allowedReview(uid, limitedWarnings(problems.map(warningText))));
}

function allowedReview(uid: string, warnings: readonly string[]): AdmissionReview {
  return { ...REVIEW, response: { uid, allowed: true, ...warningField(warnings) } };
}

const REVIEW = { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" } as const;

function warningField(warnings: readonly string[]): { readonly warnings?: readonly string[] } {
  return warnings.length === 0 ? {} : { warnings };
}

export function toReview(uid: string, outcome: Outcome): AdmissionReview {
  const warnings = warningsOf(outcome);
  switch (outcome.kind) {
    case "refused": {
      const status = { code: REFUSED_STATUS, message: outcome.message };
      return { ...REVIEW, response: { uid, allowed: false, status, ...warningField(warnings) } };
    }
    case "unchanged":
      return allowedReview(uid, warnings);
    case "patched":
      return {
        ...REVIEW,
        response: { uid, allowed: true, patchType: "JSONPatch", patch: patchOf(outcome), ...warningField(warnings) },
      };
  }
}

/**
 * Returns the response as JSON. The patch is most of the response, and Base64 does not need escaping, so the patch is
 * concatenated instead of passed through JSON.stringify.
 */
export function reviewText(uid: string, outcome: Outcome): string {
  if (outcome.kind !== "patched") return JSON.stringify(toReview(uid, outcome));
  const warnings = warningsOf(outcome);
  const warningsText = warnings.length === 0 ? "" : `,"warnings":${JSON.stringify(warnings)}`;
  const response = `{"uid":${JSON.stringify(uid)},"allowed":true${warningsText},"patchType":"JSONPatch","patch":"${patchOf(outcome)}"}`;
  return `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":${response}}`;
}

function patchOf(outcome: Extract<Outcome, { kind: "patched" }>): string {
  return Buffer.from(outcome.patchText).toString("base64");
}

export function warningsOf(outcome: Outcome): readonly string[] {
  const skipWarnings =
    outcome.kind === "unchanged" && isUnexpected(outcome.reason)
      ? [`lastcall: not injected: ${SKIP_REASONS[outcome.reason]}`]
      : [];
  return limitedWarnings([...skipWarnings, ...outcome.explanation.problems.map(warningText)]);
}

function warningText({ where, message }: Problem): string {
  return `lastcall: ${where}: ${message}`;
}

function limitedWarnings(texts: readonly string[]): readonly string[] {
  return withinCountLimit(texts).map((text) => plainText(text, WARNING_LIMIT_CHARACTERS));
}

/** API servers keep 4,096 characters of all warnings, which is 16 warnings of the maximum length. */
const WARNING_COUNT_LIMIT = 16;

function withinCountLimit(texts: readonly string[]): readonly string[] {
  if (texts.length <= WARNING_COUNT_LIMIT) return texts;
  const shownTexts = texts.slice(0, WARNING_COUNT_LIMIT - 1);
  return [...shownTexts, `lastcall: ${texts.length - shownTexts.length} more warnings are not shown`];
}

/**
 * The fields of `admission.k8s.io/v1` that lastcall sets; the client package does not have types for them.
 *
 * @see https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#webhook-request-and-response
 */
type AdmissionReview = {
  readonly apiVersion: "admission.k8s.io/v1";
  readonly kind: "AdmissionReview";
  readonly response: AdmissionResponse;
};

type AdmissionResponse = {
  readonly uid: string;
  readonly allowed: boolean;
  /** Shown to the client whose request is refused. */
  readonly status?: { readonly code: number; readonly message: string };
  readonly patchType?: "JSONPatch";
  readonly patch?: string;
  readonly warnings?: readonly string[];
};
