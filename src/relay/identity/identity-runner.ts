/** Reconciles the relay's Secret and leaf certificates, regularly and when a client uses an unknown CA. */
import { setTimeout as sleep } from "node:timers/promises";
import { createSecureContext, type SecureContext } from "node:tls";
import { Counter, Gauge, type Registry } from "prom-client";
import type { SecretStore } from "../../api-server/secret-store.ts";
import { createLeaves, type LeafOptions } from "../../authority/leaves.ts";
import { createFailureFilter } from "../../authority/reconcile.ts";
import { METRICS } from "../metrics.ts";
import { isServerName, newestValidCa, type RelayIdentity, serverNameOf } from "./identity.ts";
import { createReconciler, type IdentityEvent } from "./reconciler.ts";
import type { IdentityTools } from "./secret-content.ts";

type IdentityParts = {
  readonly secrets: SecretStore;
  readonly tools: IdentityTools;
  readonly wallMs: () => number;
  readonly nowMs: () => number;
  readonly log: IdentityLog;
  readonly registry: Registry;
  readonly onReconciled?: (identity: RelayIdentity) => void;
};

export type RunningIdentity = {
  readonly identity: () => RelayIdentity;
  /** Never rejects; concurrent calls share one run. */
  readonly reconcile: () => Promise<void>;
  /** Runs at most once a second, because unauthenticated clients can trigger it. */
  readonly reconcileSoon: () => Promise<void>;
  /** `undefined` for unknown server names. Reads the Secret first when another replica may have just created the CA. */
  readonly contextFor: (serverName: string) => SecureContext | undefined | Promise<SecureContext | undefined>;
};

const LEAF_OPTIONS: LeafOptions<SecureContext> = {
  lifeMs: 7 * 86_400_000,
  renewAfterFraction: 1 / 2,
  namesOf: (ca) => ({ dns: [serverNameOf(ca)] }),
  prepare: ({ cert, key }) => createSecureContext({ cert, key, minVersion: "TLSv1.2" }),
};

const MIN_INTERVAL_MS = 1_000;
/** Longest wait of a TLS handshake for the Secret; the handshake then continues with the leaf certificates in memory. */
const HANDSHAKE_WAIT_MS = 2_000;

export function runIdentity(parts: IdentityParts): RunningIdentity {
  const { secrets, tools, wallMs, nowMs, log, registry } = parts;
  const isReady = (): boolean =>
    newestValidCa(reconciler.identity(), wallMs()) !== undefined && reconciler.identity().keys.length > 0;
  const recorder = identityRecorder(log, registry, isReady);
  const reconciler = createReconciler({ secrets, tools, wallMs, recordEvent: recorder.recordEvent });
  const leaves = createLeaves(LEAF_OPTIONS);
  let currentRun: Promise<void> | undefined;
  let startedAtMs = Number.NEGATIVE_INFINITY;

  const runOnce = async (): Promise<void> => {
    try {
      await reconciler.reconcile().finally(() => leaves.update(reconciler.identity().cas, wallMs()));
      recorder.recordSuccess();
    } catch (error) {
      recorder.recordFailure(error, nowMs());
    } finally {
      currentRun = undefined;
      parts.onReconciled?.(reconciler.identity());
    }
  };

  const reconcile = (): Promise<void> => {
    if (currentRun !== undefined) return currentRun;
    startedAtMs = nowMs();
    currentRun = runOnce();
    return currentRun;
  };

  const reconcileSoon = async (): Promise<void> => {
    if (currentRun !== undefined) return currentRun;
    if (nowMs() - startedAtMs >= MIN_INTERVAL_MS) await reconcile();
  };

  return {
    identity: reconciler.identity,
    reconcile,
    reconcileSoon,
    contextFor: (serverName) => {
      if (!isServerName(serverName)) return undefined;
      const context = leaves.leafOf(serverName);
      if (context !== undefined) return context;
      const timeout = sleep(HANDSHAKE_WAIT_MS, undefined, { ref: false });
      return Promise.race([reconcileSoon(), timeout]).then(() => leaves.leafOf(serverName));
    },
  };
}

type IdentityLog = Readonly<Record<"info" | "warn", (keys: object, sentence: string) => void>>;

type IdentityRecorder = {
  readonly recordEvent: (event: IdentityEvent) => void;
  readonly recordFailure: (error: unknown, nowMs: number) => void;
  readonly recordSuccess: () => void;
};

export function identityRecorder(log: IdentityLog, registry: Registry, isReady: () => boolean): IdentityRecorder {
  const registers = [registry];
  const failures = new Counter({ ...METRICS.identityFailures, registers });
  new Gauge({
    ...METRICS.identityReady,
    registers,
    collect() {
      this.set(isReady() ? 1 : 0);
    },
  });
  const filter = createFailureFilter();
  return {
    recordEvent: (event) => {
      if (event.kind === "secret-written") log.info(event.reason, "wrote the relay's Secret");
      else if (event.kind === "secret-errors")
        log.warn({ errors: event.errors }, "the relay's Secret has invalid entries; valid entries are kept");
      else if (event.kind === "lost")
        log.warn(
          { generations: event.generations },
          "CAs that running Pods trust were removed from the relay's Secret; those Pods drain without the relay until they are recreated",
        );
    },
    recordFailure: (error, nowMs) => {
      failures.inc();
      const message = error instanceof Error ? error.message : String(error);
      if (filter.isDue(message, nowMs))
        log.warn({ why: message, ready: isReady() }, "cannot reconcile the relay's Secret");
    },
    recordSuccess: filter.reset,
  };
}
