/** Simulates replicas, an API server, a failing network and a clock. Each API call waits until the test ends the call. */
import { parsePemBlocks } from "../../../src/authority/certificate.ts";
import type { Lifetimes } from "../../../src/webhook/certificates/authority.ts";
import {
  type AuthorityEvent,
  createReconciler,
  type Reconciler,
} from "../../../src/webhook/certificates/reconciler.ts";
import { type ApiStore, createApiStore } from "./api-store.ts";
import { createFakeTools } from "./fake-certificates.ts";

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

export const LIFETIMES: Lifetimes = {
  caLifeMs: 300 * DAY_MS,
  leafLifeMs: 7 * DAY_MS,
  settleMs: MINUTE_MS,
  dropDelayMs: HOUR_MS,
};

/** The outcome of an API call: request and response arrive, the request is lost, or the response is lost. */
export type CallOutcome = "completed" | "request lost" | "response lost";

type Call = { readonly replica: Replica; readonly end: (outcome: CallOutcome) => void };

export type Replica = {
  reconciler: Reconciler;
  clockOffsetMs: number;
  running: Promise<void> | undefined;
  distrustReason: string | undefined;
  syncedAtMs: number;
  readonly events: AuthorityEvent[];
};

export type SimulatedCluster = {
  readonly store: ApiStore;
  readonly replicas: readonly Replica[];
  readonly nowMs: () => number;
  readonly advance: (ms: number) => void;
  readonly startReconcile: (replica: Replica) => Promise<void>;
  readonly endCall: (index: number, outcome: CallOutcome) => Promise<void>;
  readonly pendingCallCount: () => number;
  /** Edits the Secret as an operator would. */
  readonly editSecret: (data: Readonly<Record<string, string>> | undefined) => void;
  /** By CA ID, the time until which API servers may distrust the CA, because an operator made the CA the signer early. */
  readonly unsettledSigners: ReadonlyMap<string, number>;
  readonly crash: (replica: Replica) => Promise<void>;
  /** Performs a complete reconciliation in which every API call succeeds. */
  readonly reconcile: (replica: Replica) => Promise<void>;
};

export function createCluster(replicaCount: number, webhookCount = 2): SimulatedCluster {
  let nowMs = Date.parse("2026-06-01T12:00:00Z");
  let nameCount = 0;
  let pendingCalls: Call[] = [];
  const store = createApiStore(() => nowMs, webhookCount);
  const tools = createFakeTools(() => {
    nameCount += 1;
    return `CA ${nameCount}`;
  });

  const startCall = <T>(replica: Replica, apply: () => T): Promise<T> =>
    new Promise((resolve, reject) => {
      const end = (outcome: CallOutcome): void => {
        if (outcome === "request lost") {
          reject(new Error("the API server does not answer"));
          return;
        }
        const result = apply();
        if (outcome === "completed") resolve(result);
        else reject(new Error("the connection was lost"));
      };
      pendingCalls.push({ replica, end });
    });

  const reconcilerOf = (replica: () => Replica): Reconciler =>
    createReconciler(
      {
        secrets: {
          read: () => startCall(replica(), store.secret),
          create: (data) => startCall(replica(), () => store.createSecret(data)),
          update: (current, changes) => startCall(replica(), () => store.updateSecret(current, changes)),
        },
        configurations: {
          displayName: "MutatingWebhookConfiguration w",
          read: () => startCall(replica(), store.configuration),
          writeBundle: (current, bundle) => startCall(replica(), () => store.writeBundle(current, bundle)),
        },
        tools,
        now: () => ({ wallMs: nowMs + replica().clockOffsetMs, monotonicMs: nowMs }),
        recordEvent: (event) => replica().events.push(event),
      },
      LIFETIMES,
    );

  const createReplica = (): Replica => {
    const replica: Replica = {
      reconciler: reconcilerOf(() => replica),
      clockOffsetMs: 0,
      running: undefined,
      distrustReason: undefined,
      syncedAtMs: Number.NEGATIVE_INFINITY,
      events: [],
    };
    return replica;
  };
  const replicas = Array.from({ length: replicaCount }, createReplica);

  const startReconcile = async (replica: Replica): Promise<void> => {
    if (replica.running !== undefined) return;
    const { reconciler } = replica;
    const finished = reconciler.reconcile().then(
      () => {
        if (replica.reconciler !== reconciler) return;
        replica.distrustReason = reconciler.distrustReason();
        replica.syncedAtMs = nowMs;
      },
      () => undefined,
    );
    replica.running = finished.then(() => {
      if (replica.reconciler === reconciler) replica.running = undefined;
    });
    await waitForCallbacks();
  };

  const endCall = async (index: number, outcome: CallOutcome): Promise<void> => {
    const [endedCall] = pendingCalls.splice(pendingCalls.length === 0 ? 0 : index % pendingCalls.length, 1);
    endedCall?.end(outcome);
    await waitForCallbacks();
  };

  const unsettledSigners = new Map<string, number>();
  /**
   * Replicas use a published signer, even if an operator set it before all API servers trusted it. The oracle does not report
   * replicas that use such a signer.
   */
  const editSecret: SimulatedCluster["editSecret"] = (data) => {
    store.setSecret(data);
    const signer = parsePemBlocks(data?.["ca.crt"] ?? "").blocks[0]?.id;
    const isIn = (bundles: readonly string[]) => bundles.every((text) => hasCa(text, signer));
    const isPublished = isIn(store.configuration()?.bundles ?? []);
    const isUnsettled = possibleVersions(store, nowMs).some(({ bundles }) => !isIn(bundles));
    if (signer !== undefined && isPublished && isUnsettled) unsettledSigners.set(signer, nowMs + LIFETIMES.settleMs);
  };

  return {
    store,
    replicas,
    editSecret,
    unsettledSigners,
    nowMs: () => nowMs,
    advance: (ms) => {
      nowMs += ms;
    },
    startReconcile,
    endCall,
    pendingCallCount: () => pendingCalls.length,
    crash: async (replica) => {
      pendingCalls = pendingCalls.filter((pending) => pending.replica !== replica);
      replica.reconciler = reconcilerOf(() => replica);
      replica.running = undefined;
      replica.distrustReason = undefined;
      replica.syncedAtMs = Number.NEGATIVE_INFINITY;
      await waitForCallbacks();
    },
    reconcile: async (replica) => {
      await startReconcile(replica);
      while (replica.running !== undefined) {
        const callIndex = pendingCalls.findIndex((pending) => pending.replica === replica);
        if (callIndex < 0) await waitForCallbacks();
        else await endCall(callIndex, "completed");
      }
    },
  };
}

/** Whether the replica gets requests: its leaf is valid, and it has not found a reason for which an API server could reject the leaf. */
export function isReady(cluster: SimulatedCluster, replica: Replica): boolean {
  const leaf = replica.reconciler.leaf();
  if (leaf === undefined || replica.distrustReason !== "") return false;
  return cluster.nowMs() + replica.clockOffsetMs < leaf.validUntilMs && cluster.nowMs() < leaf.validUntilMs;
}

/**
 * The oracle: returns ready replicas whose leaf an API server may refuse. An API server may use any version of the configuration
 * that was current within the settle time. Versions that replicas did not write, and CAs that an operator made the signer before
 * the settle time had passed, are excluded.
 */
export function untrustedReadyReplicas(
  cluster: SimulatedCluster,
  syncedWithinMs = Number.POSITIVE_INFINITY,
): readonly string[] {
  const versions = possibleVersions(cluster.store, cluster.nowMs());
  return cluster.replicas.flatMap((replica, index) => {
    const leaf = replica.reconciler.leaf();
    if (leaf === undefined || !isReady(cluster, replica)) return [];
    if (cluster.nowMs() - replica.syncedAtMs > syncedWithinMs) return [];
    if ((cluster.unsettledSigners.get(leaf.cert) ?? 0) > cluster.nowMs()) return [];
    const isTrustedBy = (bundle: string) => hasCa(bundle, leaf.cert);
    return versions.some((version) => !version.bundles.every(isTrustedBy)) ? [`replica ${index}`] : [];
  });
}

/** Returns the versions, written by replicas, that an API server may still use. */
function possibleVersions(store: ApiStore, nowMs: number): ReturnType<ApiStore["versions"]> {
  return store.versions().filter((version) => version.isByReplica && version.untilMs > nowMs - LIFETIMES.settleMs);
}

function hasCa(bundle: string, id: string | undefined): boolean {
  return parsePemBlocks(bundle).blocks.some((block) => block.id === id);
}

function waitForCallbacks(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
