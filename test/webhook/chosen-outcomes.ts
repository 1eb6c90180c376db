/** Defines outcomes of injections for tests of the server's responses. */
import type { Explanation, Outcome } from "../../src/injection/outcome.ts";
import type { Problem } from "../../src/policy/problem.ts";
import { resolvePolicy } from "../../src/policy/resolve.ts";
import { POD } from "./pod-review.ts";

export function explanationWith(problems: readonly Problem[] = []): Explanation {
  const { policy, origins } = resolvePolicy([], {});
  return { policy, origins, problems };
}

export const BAD_VALUE: Problem = {
  code: "bad_value",
  where: "pod web-0, lastcall.dev/drain-delay",
  message: 'Got "5", expected a duration.',
};

type PatchedOutcome = Extract<Outcome, { kind: "patched" }>;

const PATCH: PatchedOutcome["patch"] = [{ op: "replace", path: "/spec/terminationGracePeriodSeconds", value: 100 }];

export const PATCHED: PatchedOutcome = {
  kind: "patched",
  mode: "native",
  pod: POD,
  patch: PATCH,
  patchText: JSON.stringify(PATCH),
  explanation: explanationWith(),
};

export const WARNED: Outcome = { ...PATCHED, explanation: explanationWith([BAD_VALUE]) };

export const UNCHANGED: Outcome = { kind: "unchanged", reason: "disabled", explanation: explanationWith() };

export const REFUSED: Extract<Outcome, { kind: "refused" }> = {
  kind: "refused",
  message: "The value cannot be read.",
  explanation: explanationWith([BAD_VALUE]),
};
