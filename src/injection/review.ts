/** An outcome to the answer the API server reads. */
import { plainText } from "../contract/outside-text.ts";
import type { Problem } from "../policy/problem.ts";
import { type Outcome, SKIP_REASONS, type SkipReason } from "./outcome.ts";

/** kubectl prints warnings whole up to here; the API server may cut longer ones. */
const WARNING_LIMIT = 120;

/** Unprocessable: the request was understood, its values were not. */
const REFUSED_STATUS = 422;

/** Skipping for these would surprise the person who asked for injection; the other reasons are everyday. */
const SURPRISING: readonly SkipReason[] = [
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

/** Whether the person who asked for injection should hear of it beyond the log. */
export function isSurprising(reason: SkipReason): boolean {
  return SURPRISING.includes(reason);
}

/** The answer that changes nothing, with a warning for each problem. */
export function allowedText(uid: string, problems: readonly Problem[]): string {
  return JSON.stringify(allowed(uid, shown(problems.map(warningText))));
}

function allowed(uid: string, warnings: readonly string[]): AdmissionReview {
  return { ...REVIEW, response: { uid, allowed: true, ...warningField(warnings) } };
}

const REVIEW = { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" } as const;

function warningField(warnings: readonly string[]): { readonly warnings?: readonly string[] } {
  return warnings.length === 0 ? {} : { warnings };
}

/** One answer for every outcome, so that uid, status and base64 cannot be forgotten. */
export function toReview(uid: string, outcome: Outcome): AdmissionReview {
  const warnings = warningsOf(outcome);
  switch (outcome.kind) {
    case "refused": {
      const status = { code: REFUSED_STATUS, message: outcome.message };
      return { ...REVIEW, response: { uid, allowed: false, status, ...warningField(warnings) } };
    }
    case "unchanged":
      return allowed(uid, warnings);
    case "patched":
      return {
        ...REVIEW,
        response: { uid, allowed: true, patchType: "JSONPatch", patch: patchOf(outcome), ...warningField(warnings) },
      };
  }
}

/**
 * The answer as JSON. Nearly all of it is the patch, in letters that JSON never escapes: it goes in as it is, and what is
 * around it is short enough to be written here.
 */
export function reviewText(uid: string, outcome: Outcome): string {
  if (outcome.kind !== "patched") return JSON.stringify(toReview(uid, outcome));
  const warnings = warningsOf(outcome);
  const told = warnings.length === 0 ? "" : `,"warnings":${JSON.stringify(warnings)}`;
  const response = `{"uid":${JSON.stringify(uid)},"allowed":true${told},"patchType":"JSONPatch","patch":"${patchOf(outcome)}"}`;
  return `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":${response}}`;
}

function patchOf(outcome: Extract<Outcome, { kind: "patched" }>): string {
  return Buffer.from(outcome.patchText).toString("base64");
}

/** One per problem, and one when the Pod was left alone for a reason its owner should hear of. */
export function warningsOf(outcome: Outcome): readonly string[] {
  const skipped =
    outcome.kind === "unchanged" && isSurprising(outcome.reason)
      ? [`lastcall: not injected: ${SKIP_REASONS[outcome.reason]}`]
      : [];
  return shown([...skipped, ...outcome.explanation.problems.map(warningText)]);
}

function warningText({ where, message }: Problem): string {
  return `lastcall: ${where}: ${message}`;
}

function shown(texts: readonly string[]): readonly string[] {
  return withinTotal(texts).map((text) => plainText(text, WARNING_LIMIT));
}

/** The API server keeps 4 096 characters of all warnings of a request: 34 that are as long as ours may be. */
const WARNINGS_LIMIT = 34;

function withinTotal(texts: readonly string[]): readonly string[] {
  if (texts.length <= WARNINGS_LIMIT) return texts;
  const told = texts.slice(0, WARNINGS_LIMIT - 1);
  return [...told, `lastcall: there are ${texts.length - told.length} more warnings`];
}

/**
 * The part of `admission.k8s.io/v1` this webhook speaks. The client library has no model for it: the API server
 * posts these objects, it does not serve them. Field names are the JSON names.
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
  /** Shown to the person whose request is refused; absent when allowed. */
  readonly status?: { readonly code: number; readonly message: string };
  readonly patchType?: "JSONPatch";
  /** Base64 of the JSON text of the operations. */
  readonly patch?: string;
  /** Printed by kubectl. Keep each under 120 characters; the server may cut longer ones. */
  readonly warnings?: readonly string[];
};
