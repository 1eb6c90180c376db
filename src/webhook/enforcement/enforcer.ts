/**
 * Fills the configuration that fails closed: once, when injection is proven, and from then on whenever the open one has
 * changed. It never makes or empties that object: whether Pods may be refused at all is said by its being there.
 */
import { isDeepStrictEqual } from "node:util";
import type { WriteResult } from "../../api-server/stored-object.ts";
import type { RawObject } from "../../kubernetes/raw-json.ts";
import { canBeCalled, refusingCopies } from "./refusing-copies.ts";

export type Configurations = {
  readonly open: readonly RawObject[];
  /** `undefined` when there is no such object: then failing closed is not wanted any more. */
  readonly enforcing: { readonly resourceVersion: string; readonly webhooks: readonly RawObject[] } | undefined;
};

export type EnforcerPorts = {
  /** Both as they are now. Rejects when the API server cannot be asked or refuses. */
  readonly read: () => Promise<Configurations>;
  readonly write: (resourceVersion: string, webhooks: readonly RawObject[]) => Promise<WriteResult>;
  /** Why it is not known that Pods are injected; `undefined` when one was. */
  readonly prove: () => Promise<Doubt | undefined>;
};

/** `quota`: a ResourceQuota refuses the Pod of the proof. The values are labels of a metric and never change. */
export const BLOCKED_REASONS = ["quota", "other"] as const;
type BlockedReason = (typeof BLOCKED_REASONS)[number];

type Doubt = { readonly why: string; readonly reason: BlockedReason };

export type Enforcement = {
  /** Whether API servers refuse Pods while no webhook answers. */
  readonly isEnforcing: boolean;
  /** Why they do not, or do not as the open configuration says now; empty when all is right. */
  readonly why: string;
  /** The kind of {@link Enforcement.why}, for the metric. */
  readonly reason: BlockedReason | "none";
};

/** One look; the next one does what a lost race has left. */
export async function enforce({ read, write, prove }: EnforcerPorts): Promise<Enforcement> {
  const { open, enforcing } = await read();
  if (enforcing === undefined) return blocked(false, "there is no configuration to fill");
  const wanted = refusingCopies(open);
  const isEnforcing = enforcing.webhooks.length > 0;
  if (isEnforcing && isDeepStrictEqual(enforcing.webhooks, wanted)) return ACTIVE;
  // A bundle that was taken away comes back; entries without one would refuse Pods until then.
  if (!canBeCalled(open)) return blocked(isEnforcing, "the webhook configuration has no caBundle yet");
  const doubt = isEnforcing ? undefined : await prove();
  if (doubt !== undefined) return { isEnforcing, ...doubt };
  const written = await write(enforcing.resourceVersion, wanted);
  return written === "done" ? ACTIVE : blocked(isEnforcing, "another writer came first");
}

const ACTIVE: Enforcement = { isEnforcing: true, why: "", reason: "none" };

export function blocked(isEnforcing: boolean, why: string): Enforcement {
  return { isEnforcing, why, reason: "other" };
}
