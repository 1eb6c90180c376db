/** What one Pod may ask of one admission: beyond it other admissions would wait, or the answer could not be used. */
import { countContainers } from "../kubernetes/pod.ts";
import type { RawObject } from "../kubernetes/raw-json.ts";
import { LONGEST_NAME_LIST } from "../policy/codecs.ts";
import type { Problem } from "../policy/problem.ts";
import { PATCH_LIMIT_BYTES } from "./outcome.ts";

export type Limits = { readonly containers: number; readonly patchBytes: number };

export const LIMITS: Limits = { containers: LONGEST_NAME_LIST, patchBytes: PATCH_LIMIT_BYTES };

/** Whether the Pod is too large to be planned; asked before anything is. */
export function hasTooManyContainers(pod: RawObject, { containers }: Limits): boolean {
  return countContainers(pod) > containers;
}

/** Problems of one answer, with the one that counts those left out. */
const PROBLEM_LIMIT = 50;

export function withinLimit(problems: readonly Problem[], where: string): readonly Problem[] {
  if (problems.length <= PROBLEM_LIMIT) return problems;
  const named = problems.slice(0, PROBLEM_LIMIT - 1);
  const message = `There are ${problems.length - named.length} more problems than an answer names.`;
  return [...named, { code: "more_problems", where, message }];
}

export function isTooLong(patchText: string, { patchBytes }: Limits): boolean {
  // A character becomes three bytes at most: nearly every patch is short by that measure, and not encoded twice.
  return patchText.length * 3 > patchBytes && new TextEncoder().encode(patchText).length > patchBytes;
}
