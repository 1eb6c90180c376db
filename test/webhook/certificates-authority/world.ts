/** Several replicas, one API server, a network that fails, and a time that the test moves. Every call to the API waits until the test lets it through. */
import { pemBlocks } from "../../../src/authority/certificate.ts";
import type { Lifetimes } from "../../../src/webhook/certificates/authority.ts";
import {
  type AuthorityEvent,
  createReconciler,
  type Reconciler,
} from "../../../src/webhook/certificates/reconciler.ts";
import { type ApiStore, apiStore } from "./api-store.ts";
import { pretendTools } from "./pretend-certificates.ts";

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

export const LIVES: Lifetimes = {
  caLifeMs: 300 * DAY_MS,
  leafLifeMs: 7 * DAY_MS,
  settleMs: MINUTE_MS,
  dropHoldMs: HOUR_MS,
};

/** How a call ends: it arrives and is answered, never arrives, or arrives and its answer is lost. */
export type Fate = "answered" | "never arrives" | "answer lost";

type Call = { readonly replica: Replica; readonly end: (fate: Fate) => void };

export type Replica = {
  reconciler: Reconciler;
  clockOffsetMs: number;
  look: Promise<void> | undefined;
  distrust: string | undefined;
  lookedMs: number;
  readonly events: AuthorityEvent[];
};

export type World = {
  readonly store: ApiStore;
  readonly replicas: readonly Replica[];
  readonly nowMs: () => number;
  readonly pass: (ms: number) => void;
  readonly startLook: (replica: Replica) => Promise<void>;
  readonly endCall: (index: number, fate: Fate) => Promise<void>;
  readonly pendingCalls: () => number;
  /** A person changes the Secret. */
  readonly editSecret: (data: Readonly<Record<string, string>> | undefined) => void;
  /** Until when nothing is promised of these CAs, by their ids. */
  readonly hurried: ReadonlyMap<string, number>;
  readonly crash: (replica: Replica) => Promise<void>;
  /** A whole look during which every call is answered. */
  readonly wholeLook: (replica: Replica) => Promise<void>;
};

export function createWorld(size: number, webhooks = 2): World {
  let nowMs = Date.parse("2026-06-01T12:00:00Z");
  let names = 0;
  let calls: Call[] = [];
  const store = apiStore(() => nowMs, webhooks);
  const tools = pretendTools(() => {
    names += 1;
    return `CA ${names}`;
  });

  const call = <T>(replica: Replica, apply: () => T): Promise<T> =>
    new Promise((resolve, reject) => {
      const end = (fate: Fate): void => {
        if (fate === "never arrives") {
          reject(new Error("the API server does not answer"));
          return;
        }
        const answer = apply();
        if (fate === "answered") resolve(answer);
        else reject(new Error("the connection was lost"));
      };
      calls.push({ replica, end });
    });

  const reconcilerOf = (replica: () => Replica): Reconciler =>
    createReconciler(
      {
        secrets: {
          read: () => call(replica(), store.secret),
          create: (data) => call(replica(), () => store.createSecret(data)),
          update: (seen, changes) => call(replica(), () => store.updateSecret(seen, changes)),
        },
        configurations: {
          what: "MutatingWebhookConfiguration w",
          read: () => call(replica(), store.configuration),
          writeBundle: (seen, bundle) => call(replica(), () => store.writeBundle(seen, bundle)),
        },
        tools,
        now: () => ({ wallMs: nowMs + replica().clockOffsetMs, monotonicMs: nowMs }),
        recordEvent: (event) => replica().events.push(event),
      },
      LIVES,
    );

  const born = (): Replica => {
    const replica: Replica = {
      reconciler: reconcilerOf(() => replica),
      clockOffsetMs: 0,
      look: undefined,
      distrust: undefined,
      lookedMs: Number.NEGATIVE_INFINITY,
      events: [],
    };
    return replica;
  };
  const replicas = Array.from({ length: size }, born);

  const startLook = async (replica: Replica): Promise<void> => {
    if (replica.look !== undefined) return;
    const { reconciler } = replica;
    const finished = reconciler.reconcile().then(
      () => {
        if (replica.reconciler !== reconciler) return;
        replica.distrust = reconciler.distrust();
        replica.lookedMs = nowMs;
      },
      () => undefined,
    );
    replica.look = finished.then(() => {
      if (replica.reconciler === reconciler) replica.look = undefined;
    });
    await settled();
  };

  const endCall = async (index: number, fate: Fate): Promise<void> => {
    const [picked] = calls.splice(calls.length === 0 ? 0 : index % calls.length, 1);
    picked?.end(fate);
    await settled();
  };

  const hurried = new Map<string, number>();
  /** A published signer counts as settled. One that a person puts there while it is being made known looks the same. */
  const editSecret: World["editSecret"] = (data) => {
    store.setSecret(data);
    const signer = pemBlocks(data?.["ca.crt"] ?? "").blocks[0]?.id;
    const isIn = (bundles: readonly string[]) => bundles.every((text) => hasCa(text, signer));
    const isPublished = isIn(store.configuration()?.bundles ?? []);
    const isNews = heldVersions(store, nowMs).some(({ bundles }) => !isIn(bundles));
    if (signer !== undefined && isPublished && isNews) hurried.set(signer, nowMs + LIVES.settleMs);
  };

  return {
    store,
    replicas,
    editSecret,
    hurried,
    nowMs: () => nowMs,
    pass: (ms) => {
      nowMs += ms;
    },
    startLook,
    endCall,
    pendingCalls: () => calls.length,
    crash: async (replica) => {
      calls = calls.filter((pending) => pending.replica !== replica);
      replica.reconciler = reconcilerOf(() => replica);
      replica.look = undefined;
      replica.distrust = undefined;
      replica.lookedMs = Number.NEGATIVE_INFINITY;
      await settled();
    },
    wholeLook: async (replica) => {
      await startLook(replica);
      while (replica.look !== undefined) {
        const own = calls.findIndex((pending) => pending.replica === replica);
        if (own < 0) await settled();
        else await endCall(own, "answered");
      }
    },
  };
}

/** Whether this replica gets requests: its leaf is in time by its own clock and it believes to be trusted. */
export function isReady(world: World, replica: Replica): boolean {
  const leaf = replica.reconciler.leaf();
  if (leaf === undefined || replica.distrust !== "") return false;
  return world.nowMs() + replica.clockOffsetMs < leaf.validUntilMs && world.nowMs() < leaf.validUntilMs;
}

/**
 * The oracle: ready replicas whose leaf some API server may refuse. An API server may hold any version that was
 * the current one within the settle time. What another program or a person wrote into a bundle is not the replicas' promise,
 * nor is a CA that a person made the signer while API servers were still learning of it.
 */
export function brokenPromises(world: World, lookedWithinMs = Number.POSITIVE_INFINITY): readonly string[] {
  const held = heldVersions(world.store, world.nowMs());
  return world.replicas.flatMap((replica, index) => {
    const leaf = replica.reconciler.leaf();
    if (leaf === undefined || !isReady(world, replica)) return [];
    if (world.nowMs() - replica.lookedMs > lookedWithinMs) return [];
    if ((world.hurried.get(leaf.cert) ?? 0) > world.nowMs()) return [];
    const trusts = (bundle: string) => hasCa(bundle, leaf.cert);
    return held.some((version) => !version.bundles.every(trusts)) ? [`replica ${index}`] : [];
  });
}

/** What an API server may hold, of what replicas wrote. */
function heldVersions(store: ApiStore, nowMs: number): ReturnType<ApiStore["versions"]> {
  return store.versions().filter((version) => version.byReplica && version.untilMs > nowMs - LIVES.settleMs);
}

function hasCa(bundle: string, id: string | undefined): boolean {
  return pemBlocks(bundle).blocks.some((block) => block.id === id);
}

function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
