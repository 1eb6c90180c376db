/**
 * Copies the webhooks with failurePolicy Ignore into the MutatingWebhookConfiguration with Fail: after the injection of a dry-run Pod,
 * and again after each change of the original. Never creates or empties the object: the chart creates it to enable enforcement.
 */
import { isDeepStrictEqual } from "node:util";
import type { WriteResult } from "../../api-server/stored-object.ts";
import type { RawObject } from "../../kubernetes/raw-json.ts";
import { failClosedCopies, haveCaBundles } from "./fail-closed-copies.ts";

export type Configurations = {
  readonly originals: readonly RawObject[];
  /** `undefined` if the object does not exist: enforcement is then disabled. */
  readonly enforcing: { readonly resourceVersion: string; readonly webhooks: readonly RawObject[] } | undefined;
};

export type EnforcerPorts = {
  /** Does not read from a cache. Rejects when the API server is unreachable or refuses the request. */
  readonly read: () => Promise<Configurations>;
  readonly write: (resourceVersion: string, webhooks: readonly RawObject[]) => Promise<WriteResult>;
  readonly proveInjection: () => Promise<ProofFailure | undefined>;
};

/** Values of a metric label. They stay stable. `quota`: a ResourceQuota refuses the dry-run Pod. */
export const BLOCKED_REASONS = ["quota", "other"] as const;
type BlockedReason = (typeof BLOCKED_REASONS)[number];

type ProofFailure = { readonly why: string; readonly reason: BlockedReason };

export type Enforcement = {
  readonly isEnforcing: boolean;
  /** The reason why enforcement is not active, or uses outdated webhooks; "" if it is active and up to date. */
  readonly why: string;
  readonly reason: BlockedReason | "none";
};

/** Reconciles once. After a write conflict, the next call completes the change. */
export async function enforce({ read, write, proveInjection: prove }: EnforcerPorts): Promise<Enforcement> {
  const { originals, enforcing } = await read();
  if (enforcing === undefined)
    return blocked(false, "the MutatingWebhookConfiguration of --enforce-configuration does not exist");
  const desired = failClosedCopies(originals);
  const isEnforcing = enforcing.webhooks.length > 0;
  if (isEnforcing && isDeepStrictEqual(enforcing.webhooks, desired)) return ACTIVE;
  // Copies without a caBundle would refuse Pods until the caBundle is restored.
  if (!haveCaBundles(originals)) return blocked(isEnforcing, "a webhook of --enforce-copies has no caBundle yet");
  const failure = isEnforcing ? undefined : await prove();
  if (failure !== undefined) return { isEnforcing, ...failure };
  const result = await write(enforcing.resourceVersion, desired);
  return result === "done" ? ACTIVE : blocked(isEnforcing, "write conflict, retrying");
}

const ACTIVE: Enforcement = { isEnforcing: true, why: "", reason: "none" };

export function blocked(isEnforcing: boolean, why: string): Enforcement {
  return { isEnforcing, why, reason: "other" };
}
