/** Reads from an answer about a Pod whether it ends, and in which time. Pure. */
import type { ApiAnswer } from "../../api-server/api-request.ts";
import { wholeNumberAt } from "../../kubernetes/raw-json.ts";
import { type PodAnswer, readPodObject } from "../pod-answer.ts";
import type { PodFacts } from "./withdrawal-answer.ts";

export type PodReading =
  /** The Pod is being deleted, which is never taken back. */
  | { readonly kind: "ending"; readonly facts: PodFacts }
  | { readonly kind: "living" }
  | Exclude<PodAnswer, { readonly kind: "pod" }>;

export function readPodAnswer(answer: ApiAnswer, uid: string): PodReading {
  const read = readPodObject(answer, uid);
  if (read.kind !== "pod") return read;
  if (!read.isDeleted) return { kind: "living" };
  const seconds = wholeNumberAt(read.metadata, "deletionGracePeriodSeconds");
  return {
    kind: "ending",
    facts: { terminating: true, graceSeconds: seconds === undefined || seconds < 0 ? undefined : seconds },
  };
}
