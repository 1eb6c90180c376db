/** Assembles the relay: identity, slice watches, the two routes, and the page of recent drains. */
import type { KubeConfig } from "@kubernetes/client-node";
import type { Registry } from "prom-client";
import { createApiClient } from "../api-server/api-client.ts";
import type { RecordEvent } from "../api-server/event-recorder.ts";
import { createSecretStore } from "../api-server/secret-store.ts";
import { openPort } from "../open-port.ts";
import { createDrainRing, type DrainRing } from "./drains/drain-ring.ts";
import { addDrainsRoute, recordDrain } from "./drains/drains-route.ts";
import { createGracefulWorkloads } from "./drains/graceful-workloads.ts";
import type { RelayIdentity } from "./identity/identity.ts";
import { runIdentity } from "./identity/identity-runner.ts";
import { createCredentialCheck } from "./identity/relay-access.ts";
import { IDENTITY_TOOLS } from "./identity/secret-content.ts";
import { lostReport } from "./lost/lost-drain.ts";
import { createLostDrains, NO_LOST_DRAINS } from "./lost/lost-drains.ts";
import { drainMetrics } from "./metrics.ts";
import { type AdminListen, openAdmin } from "./page/admin-server.ts";
import { createRelayLimits } from "./server/relay-limits.ts";
import { createRelayServer } from "./server/relay-server.ts";
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
  /** An empty host means all addresses. @returns the port. @throws Fault ERR_LISTEN_FAILED */
  readonly listen: (host: string, port: number) => Promise<number>;
  /** Ends the streams, so that managers connect to another replica; resolves when all connections are closed. */
  readonly endStreams: () => Promise<void>;
};

/** Time for responses and ends of streams to reach the clients; then the open connections are closed. */
const CLOSE_LIMIT_MS = 1_000;
const DRAIN_RECORDS_LIMIT = 1_000;

/** Starts even if the API server is unreachable or the admin port is in use, and logs the error. */
export async function startRelay(parts: RelayParts): Promise<Relay> {
  const { wallMs, log, registry, onReconciled, readsPods } = parts;
  const { nowMs } = clock;
  const { request, stream } = createApiClient(parts.connection);
  const secrets = createSecretStore(request, parts.namespace, parts.secretName);
  const identity = runIdentity({
    secrets,
    tools: IDENTITY_TOOLS,
    wallMs,
    nowMs,
    log,
    registry,
    onReconciled,
  });
  const checkCredential = createCredentialCheck({
    identity: identity.identity,
    onUnknownKey: () => void identity.reconcileSoon(),
  });
  const { watchPod } = createSliceWatches({ request, stream, clock, random: Math.random, readsPods, registry, log });
  const ring = createDrainRing(DRAIN_RECORDS_LIMIT, wallMs);
  const workloads = createGracefulWorkloads();
  const recordPorts = {
    ring,
    workloads,
    ...drainMetrics(registry),
    recordEvent: parts.recordDrainEvent,
    newId: parts.newId,
    log,
  };
  const lostDrainTracker = createLostDrains({
    request,
    clock,
    onLost: (drain, end) => {
      const { pod, claims, brokeAtMs: endedAtMs } = drain;
      recordDrain({ pod, claims, endedAtMs, report: lostReport(drain, end) }, recordPorts);
    },
  });
  const lostDrains = readsPods ? lostDrainTracker : NO_LOST_DRAINS;
  const app = createRelayServer(log, identity.contextFor);
  const guardPorts = { checkCredential, limits: createRelayLimits(), nowMs, registry };
  addWithdrawalRoute(app, { ...guardPorts, watchPod, lostDrains, isGraceful: workloads.isGraceful, clock, wallMs });
  addDrainsRoute(app, { ...guardPorts, ...recordPorts, onReport: lostDrains.onReport, wallMs });
  await app.ready();
  await serveRecentDrains(parts, ring);
  return {
    reconcile: identity.reconcile,
    listen: async (host, port) => (await openPort(app.server, { name: "the relay's", host, port })).port,
    endStreams: async () => {
      const serverClosed = new AbortController();
      app.server.close(() => serverClosed.abort());
      // Runs the preClose hook, which ends the streams. The server stays open, because Fastify closes only a server that Fastify opened.
      await app.close();
      await clock.sleep(CLOSE_LIMIT_MS, serverClosed.signal);
      app.server.closeAllConnections();
    },
  };
}

/** Logs an error and does not throw: the relay must serve managers even if the admin port is in use. */
async function serveRecentDrains(
  { adminPort, adminListen, instance, log }: RelayParts,
  drains: DrainRing,
): Promise<void> {
  if (adminPort === 0) return;
  try {
    const admin = await openAdmin({ drains, instance }, adminPort, adminListen);
    log.info({ adminListen, adminPort: admin.port }, "serving recent drains");
  } catch (error) {
    log.error({ err: error }, "cannot serve recent drains");
  }
}
