/** The inverse of an injection. */
import { isWellFormed } from "../kubernetes/pod.ts";
import { isRawObject } from "../kubernetes/raw-json.ts";
import { findInjected } from "./injected.ts";
import { restorePod } from "./restore.ts";

/** Takes out only what injection put in and what still equals it. `pod` shares unchanged parts. */
export type Uninjected = { readonly kind: "not-injected" } | { readonly kind: "uninjected"; readonly pod: object };

/** A Pod whose shape the API server would refuse counts as not injected. */
export function uninjectPod(pod: object): Uninjected {
  const injected = isRawObject(pod) && isWellFormed(pod) ? findInjected(pod) : undefined;
  if (injected === undefined || !isRawObject(pod)) return { kind: "not-injected" };
  return { kind: "uninjected", pod: restorePod(pod, injected) };
}
