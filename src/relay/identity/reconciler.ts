/** Reconciles the relay's Secret: adds missing CAs and keys, and uses only what was read back. */
import { fingerprintOf } from "../../authority/certificate.ts";
import { reconcile } from "../../authority/reconcile.ts";
import { type SecretEvent, type SecretPorts, writeSecret } from "../../authority/shared-secret.ts";
import { keptOf, type Missing, missingFrom, NO_IDENTITY, type RelayIdentity } from "./identity.ts";
import { changesTo, type IdentityTools, readContent } from "./secret-content.ts";

export type IdentityEvent = SecretEvent<Missing> | { readonly kind: "lost"; readonly generations: readonly string[] };

type ReconcilerPorts = Pick<SecretPorts<Missing>, "secrets"> & {
  readonly tools: IdentityTools;
  readonly wallMs: () => number;
  readonly recordEvent: (event: IdentityEvent) => void;
};

export type Reconciler = {
  /** Rejects when the API server cannot be reached; the identity stays. Calls must not overlap. */
  readonly reconcile: () => Promise<void>;
  readonly identity: () => RelayIdentity;
};

export function createReconciler(ports: ReconcilerPorts): Reconciler {
  let current = NO_IDENTITY;

  const use = (found: RelayIdentity): void => {
    const lost = current.generations.filter(
      ({ id, validUntilMs }) => validUntilMs > ports.wallMs() && !found.generations.some((each) => each.id === id),
    );
    if (lost.length > 0) ports.recordEvent({ kind: "lost", generations: lost.map(fingerprintOf) });
    current = found;
  };

  const reconcileSecret = async (): Promise<void> => {
    await reconcile({
      target: "the relay's Secret",
      read: async () => {
        const stored = await ports.secrets.read();
        return { stored, ...readContent(stored?.data ?? {}) };
      },
      decide: ({ identity, secretErrors }) => {
        const missing = missingFrom(identity, ports.wallMs());
        const isComplete = !missing.generation && !missing.key && secretErrors.length === 0;
        // Valid entries are used even if the Secret cannot be repaired.
        if (isComplete || identity.generations.length > 0 || identity.keys.length > 0) use(identity);
        return isComplete ? undefined : missing;
      },
      write: async (missing, seen) => {
        const changes = changesTo(seen, keptOf(await completed(seen.identity, missing, ports)));
        await writeSecret(ports, seen, { changes, reason: missing });
      },
    });
  };

  return { reconcile: reconcileSecret, identity: () => current };
}

async function completed(found: RelayIdentity, missing: Missing, ports: ReconcilerPorts): Promise<RelayIdentity> {
  const wallMs = ports.wallMs();
  const { generations, keys } = found;
  const earliestMs = Math.min(wallMs, ...generations.map(({ validFromMs }) => validFromMs));
  const made = missing.generation ? [await ports.tools.makeGeneration(wallMs, earliestMs)] : [];
  return {
    generations: [...generations, ...made],
    keys: missing.key ? [...keys, ports.tools.makeKey(wallMs)] : keys,
  };
}
