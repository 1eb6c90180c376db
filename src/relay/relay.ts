/** Assembles the relay: identity, slice watches, the two routes, and the page of recent drains. */
import type { KubeConfig } from "@kubernetes/client-node";
import type { Registry } from "prom-client";
import { createApiClient } from "../api-server/api-client.ts";
import type { RecordEvent } from "../api-server/event-recorder.ts";
import { secretStore } from "../api-server/secret-store.ts";
import { openPort } from "../open-port.ts";
import { createDrainRing, type DrainRing } from "./drains/drain-ring.ts";
import { addDrainsRoute, recordDrain } from "./drains/drains-route.ts";
import type { RelayIdentity } from "./identity/identity.ts";
import { runIdentity } from "./identity/identity-runner.ts";
import { credentialCheck } from "./identity/relay-access.ts";
import { IDENTITY_TOOLS } from "./identity/secret-content.ts";
import { lostReport } from "./lost/lost-drain.ts";
import { createLostDrains, NO_LOST_DRAINS } from "./lost/lost-drains.ts";
import { drainMetrics } from "./metrics.ts";
import { type AdminListen, openAdmin } from "./page/admin-server.ts";
import { createRelayLimits } from "./server/relay-limits.ts";
import { relayServer } from "./server/relay-server.ts";
import { REAL_CLOCK as clock } from "./slices/clock.ts";
import { createSliceWatches } from "./slices/slice-watches.ts";
import { addWithdrawalRoute } from "./withdrawal/withdrawal-route.ts";

export type RelayLog = Readonly<Record<"info" | "warn" | "error", (keys: object, sentence: string) => void>>;

type RelayParts = {
  readonly connection: KubeConfig;
  readonly namespace: string;
  readonly secretName: string;
  readonly readsPods: boolean;
  readonly adminPort: number;
  readonly adminListen: AdminListen;
  readonly instance: string;
  readonly recordDrainEvent: RecordEvent;
  readonly onReconciled: (identity: RelayIdentity) => void;
  readonly newId: () => string;
  readonly wallMs: () => number;
  readonly log: RelayLog;
  readonly registry: Registry;
};

type Relay = {
  /** Reconciles the Secret and the certificates; must be called regularly. Never rejects. */
  readonly reconcile: () => Promise<void>;
  /** An empty host is every address. @returns the port. @throws Fault ERR_LISTEN_FAILED */
  readonly listen: (host: string, port: number) => Promise<number>;
  /** Ends the streams, so that managers call another replica; resolves when all connections are closed. */
  readonly leave: () => Promise<void>;
};

/** For responses and ends of streams to arrive; connections that are still open then are cut. */
const LEAVING_MS = 1_000;
const DRAINS_REMEMBERED = 1_000;

/** Starts without the API server or the admin port too, and logs what is missing. */
export async function startRelay(parts: RelayParts): Promise<Relay> {
  const { wallMs, log, registry, onReconciled, readsPods } = parts;
  const { nowMs } = clock;
  const { request, stream } = createApiClient(parts.connection);
  const secrets = secretStore(request, parts.namespace, parts.secretName);
  const identity = runIdentity({
    secrets,
    tools: IDENTITY_TOOLS,
    wallMs,
    nowMs,
    log,
    registry,
    onReconciled,
  });
  const checkCredential = credentialCheck({
    identity: identity.identity,
    onUnknownKey: () => void identity.reconcileSoon(),
  });
  const { watchPod } = createSliceWatches({ request, stream, clock, random: Math.random, readsPods, registry, log });
  const ring = createDrainRing(DRAINS_REMEMBERED);
  const recording = {
    ring,
    countDrain: drainMetrics(registry),
    recordEvent: parts.recordDrainEvent,
    newId: parts.newId,
    log,
  };
  const lostDrains = createLostDrains({
    request,
    clock,
    onLost: (drain, end) => {
      const { pod, claims, brokeAtMs: endedAtMs } = drain;
      recordDrain({ pod, claims, endedAtMs, report: lostReport(drain, end) }, recording);
    },
  });
  const lost = readsPods ? lostDrains : NO_LOST_DRAINS;
  const app = relayServer(log, identity.contextFor);
  const guard = { checkCredential, limits: createRelayLimits(), nowMs, registry };
  addWithdrawalRoute(app, { ...guard, watchPod, lost, clock, wallMs });
  addDrainsRoute(app, { ...guard, ...recording, onReport: lost.reported, wallMs });
  await app.ready();
  await showDrains(parts, ring);
  return {
    reconcile: identity.reconcile,
    listen: async (host, port) => (await openPort(app.server, { name: "the relay's", host, port })).port,
    leave: async () => {
      const gone = new AbortController();
      app.server.close(() => gone.abort());
      // Ends the streams by the preClose hook; Fastify closes only a server that it opened itself.
      await app.close();
      await clock.sleep(LEAVING_MS, gone.signal);
      app.server.closeAllConnections();
    },
  };
}

/** A port in use must not keep the relay from serving. */
async function showDrains({ adminPort, adminListen, instance, log }: RelayParts, drains: DrainRing): Promise<void> {
  if (adminPort === 0) return;
  try {
    const admin = await openAdmin({ drains, instance }, adminPort, adminListen);
    log.info({ adminListen, adminPort: admin.port }, "showing recent drains");
  } catch (error) {
    log.error({ err: error }, "cannot show recent drains");
  }
}
