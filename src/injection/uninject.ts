/** Reverts an injection. */
import { isWellFormed } from "../kubernetes/pod.ts";
import { isRawObject } from "../kubernetes/raw-json.ts";
import { findExistingInjection } from "./record/existing-injection.ts";
import { restorePod } from "./record/restore.ts";

type UninjectResult = { readonly kind: "not-injected" } | { readonly kind: "uninjected"; readonly pod: object };

export function uninjectPod(pod: object): UninjectResult {
  const existing = isRawObject(pod) && isWellFormed(pod) ? findExistingInjection(pod) : undefined;
  if (existing === undefined || !isRawObject(pod)) return { kind: "not-injected" };
  return { kind: "uninjected", pod: restorePod(pod, existing) };
}
