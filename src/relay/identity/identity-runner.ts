/** Keeps the identity in memory up to date: from time to time, and when a client names what is not known yet. */
import { setTimeout as sleep } from "node:timers/promises";
import { createSecureContext, type SecureContext } from "node:tls";
import type { Registry } from "prom-client";
import type { SecretStore } from "../../api-server/secret-store.ts";
import { createLeaves, type LeafParts } from "../../authority/leaves.ts";
import { newestGeneration, type RelayIdentity } from "./identity.ts";
import { type IdentityLog, identityRecorder } from "./identity-log.ts";
import type { IdentityTools } from "./identity-tools.ts";
import { createReconciler } from "./reconciler.ts";
import { isServerName, serverNameOf } from "./server-name.ts";

export type IdentityParts = {
  readonly secrets: SecretStore;
  readonly tools: IdentityTools;
  readonly wallMs: () => number;
  /** Monotonic. */
  readonly nowMs: () => number;
  readonly log: IdentityLog;
  readonly registry: Registry;
  /** After every look, whether it succeeded or not. */
  readonly onLooked?: (identity: RelayIdentity) => void;
};

export type RunningIdentity = {
  readonly identity: () => RelayIdentity;
  /** Never rejects; calls at the same time share one look. */
  readonly look: () => Promise<void>;
  /** Looks too, but at most once a second: strangers can make it happen. */
  readonly lookSoon: () => Promise<void>;
  /**
   * The certificate for a name that TLS was asked for; `undefined` when it is not the relay's. A generation another replica
   * has just made is looked up first.
   */
  readonly contextFor: (serverName: string) => SecureContext | undefined | Promise<SecureContext | undefined>;
};

/** TLS 1.2 is the oldest version of managers. */
const LEAF: LeafParts<SecureContext> = {
  lifeMs: 7 * 86_400_000,
  renewAfter: 1 / 2,
  namesOf: (ca) => ({ dns: [serverNameOf(ca)] }),
  prepare: ({ cert, key }) => createSecureContext({ cert, key, minVersion: "TLSv1.2" }),
};

const SOON_MS = 1_000;
/** Longest wait of a TLS handshake for a look at the Secret; then it goes on with what is known. */
const HANDSHAKE_WAIT_MS = 2_000;

export function runIdentity(parts: IdentityParts): RunningIdentity {
  const { secrets, tools, wallMs, nowMs, log, registry } = parts;
  const isReady = (): boolean =>
    newestGeneration(reconciler.identity(), wallMs()) !== undefined && reconciler.identity().keys.length > 0;
  const recorder = identityRecorder(log, registry, isReady);
  const reconciler = createReconciler({ secrets, tools, wallMs, recordEvent: recorder.recordEvent });
  const leaves = createLeaves(LEAF);
  let running: Promise<void> | undefined;
  let beganMs = Number.NEGATIVE_INFINITY;

  const lookOnce = async (): Promise<void> => {
    try {
      // Also after a look that failed: what is known goes on being served.
      await reconciler.reconcile().finally(() => leaves.update(reconciler.identity().generations, wallMs()));
      recorder.recordSuccess();
    } catch (error) {
      recorder.recordFailure(error, nowMs());
    } finally {
      running = undefined;
      parts.onLooked?.(reconciler.identity());
    }
  };

  const look = (): Promise<void> => {
    if (running !== undefined) return running;
    beganMs = nowMs();
    running = lookOnce();
    return running;
  };

  const lookSoon = async (): Promise<void> => {
    if (running !== undefined) return running;
    if (nowMs() - beganMs >= SOON_MS) await look();
  };

  return {
    identity: reconciler.identity,
    look,
    lookSoon,
    contextFor: (serverName) => {
      if (!isServerName(serverName)) return undefined;
      const known = leaves.leafOf(serverName);
      if (known !== undefined) return known;
      const late = sleep(HANDSHAKE_WAIT_MS, undefined, { ref: false });
      return Promise.race([lookSoon(), late]).then(() => leaves.leafOf(serverName));
    },
  };
}
