/** Reconciles the relay's Secret: adds missing CAs and keys, and uses only entries that it has read from the Secret. */
import { fingerprintOf } from "../../authority/certificate.ts";
import { reconcile } from "../../authority/reconcile.ts";
import { type SecretEvent, type SecretPorts, writeSecret } from "../../authority/shared-secret.ts";
import { dropOldest, findMissing, type Missing, NO_IDENTITY, type RelayIdentity } from "./identity.ts";
import { changesTo, type IdentityTools, readContent } from "./secret-content.ts";

export type IdentityEvent = SecretEvent<Missing> | { readonly kind: "lost"; readonly generations: readonly string[] };

type ReconcilerPorts = Pick<SecretPorts<Missing>, "secrets"> & {
  readonly tools: IdentityTools;
  readonly wallMs: () => number;
  readonly recordEvent: (event: IdentityEvent) => void;
};

export type Reconciler = {
  /** Rejects when the API server cannot be reached, without changing the identity. Calls must not overlap. */
  readonly reconcile: () => Promise<void>;
  readonly identity: () => RelayIdentity;
};

export function createReconciler(ports: ReconcilerPorts): Reconciler {
  let current = NO_IDENTITY;

  const replaceIdentity = (newIdentity: RelayIdentity): void => {
    const lostCas = current.cas.filter(
      ({ id, validUntilMs }) => validUntilMs > ports.wallMs() && !newIdentity.cas.some((each) => each.id === id),
    );
    if (lostCas.length > 0) ports.recordEvent({ kind: "lost", generations: lostCas.map(fingerprintOf) });
    current = newIdentity;
  };

  const reconcileSecret = async (): Promise<void> => {
    await reconcile({
      target: "the relay's Secret",
      read: async () => {
        const stored = await ports.secrets.read();
        return { stored, ...readContent(stored?.data ?? {}) };
      },
      decide: ({ identity, secretErrors }) => {
        const missing = findMissing(identity, ports.wallMs());
        const isComplete = !missing.generation && !missing.key && secretErrors.length === 0;
        // Valid entries are used even if the Secret cannot be repaired.
        if (isComplete || identity.cas.length > 0 || identity.keys.length > 0) replaceIdentity(identity);
        return isComplete ? undefined : missing;
      },
      write: async (missing, content) => {
        const changes = changesTo(content, dropOldest(await addMissing(content.identity, missing, ports)));
        await writeSecret(ports, content, { changes, reason: missing });
      },
    });
  };

  return { reconcile: reconcileSecret, identity: () => current };
}

async function addMissing(identity: RelayIdentity, missing: Missing, ports: ReconcilerPorts): Promise<RelayIdentity> {
  const wallMs = ports.wallMs();
  const { cas, keys } = identity;
  const earliestMs = Math.min(wallMs, ...cas.map(({ validFromMs }) => validFromMs));
  const newCas = missing.generation ? [await ports.tools.makeCa(wallMs, earliestMs)] : [];
  return {
    cas: [...cas, ...newCas],
    keys: missing.key ? [...keys, ports.tools.makeKey(wallMs)] : keys,
  };
}
