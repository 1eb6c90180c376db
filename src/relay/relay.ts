/** Puts the relay together: who it is, what it watches, what it answers, and what it shows. */
import type { KubeConfig } from "@kubernetes/client-node";
import type { Registry } from "prom-client";
import type { AskApi } from "../api-server/api-request.ts";
import { apiRunner } from "../api-server/api-runner.ts";
import type { SendNote } from "../api-server/event-sender.ts";
import { secretStore } from "../api-server/secret-store.ts";
import { createDrainRing, type DrainRing } from "./drains/drain-ring.ts";
import { addDrainsRoute } from "./drains/drains-route.ts";
import { type RecordPorts, recordDrain } from "./drains/record-drain.ts";
import type { RelayIdentity } from "./identity/identity.ts";
import { runIdentity } from "./identity/identity-runner.ts";
import { credentialCheck } from "./identity/relay-access.ts";
import { IDENTITY_TOOLS } from "./identity/secret-content.ts";
import { lostReport } from "./lost/lost-drain.ts";
import { createLostDrains, type LostDrains, NO_LOST_DRAINS } from "./lost/lost-drains.ts";
import { drainMeters } from "./metrics.ts";
import { type AdminListen, openAdmin } from "./page/admin-server.ts";
import { openPort } from "./server/open-port.ts";
import { createRelayLimits } from "./server/relay-limits.ts";
import { relayServer } from "./server/relay-server.ts";
import { REAL_CLOCK } from "./slices/clock.ts";
import { createSliceWatches } from "./slices/slice-watches.ts";
import { addWithdrawalRoute } from "./withdrawal/withdrawal-route.ts";

export type RelayLog = Readonly<Record<"info" | "warn" | "error", (keys: object, sentence: string) => void>>;

type RelayParts = {
  readonly connection: KubeConfig;
  /** Where the Secret is. */
  readonly namespace: string;
  readonly secretName: string;
  readonly readsPods: boolean;
  /** 0: recent drains are not shown. */
  readonly adminPort: number;
  readonly adminListen: AdminListen;
  /** This replica's name. */
  readonly instance: string;
  readonly tellDrain: SendNote;
  /** After every look at the Secret. */
  readonly onLooked: (identity: RelayIdentity) => void;
  /** Letters and digits that were never given out before, at most 64. */
  readonly newId: () => string;
  /** Wall clock, milliseconds. */
  readonly wallMs: () => number;
  readonly log: RelayLog;
  readonly registry: Registry;
};

type Relay = {
  /** Looks after the Secret and the certificates; to be called from time to time. Never rejects. */
  readonly look: () => Promise<void>;
  /** An empty host is every address; answers the port. @throws Fault ERR_LISTEN_FAILED */
  readonly listen: (host: string, port: number) => Promise<number>;
  /** Listens no more and ends the open streams, so that managers ask another replica; resolves when all connections are gone. */
  readonly leave: () => Promise<void>;
};

/** For answers and the ends of streams to arrive, in milliseconds; what is open then is silent or slow. */
const LEAVING_MS = 1_000;
/** A record takes 3 KiB at most. */
const DRAINS_REMEMBERED = 1_000;

/** Rejects never for want of an API server or an admin port: without them the relay does less, and the log says so. */
export async function startRelay(parts: RelayParts): Promise<Relay> {
  const { wallMs, log, registry, onLooked, readsPods } = parts;
  const { ask, stream } = apiRunner(parts.connection);
  const { nowMs } = REAL_CLOCK;
  const secrets = secretStore(ask, parts.namespace, parts.secretName);
  const known = runIdentity({ secrets, tools: IDENTITY_TOOLS, wallMs, nowMs, log, registry, onLooked });
  const checkCredential = credentialCheck({ identity: known.identity, onUnknownKey: () => void known.lookSoon() });
  const slices = createSliceWatches({ ask, stream, clock: REAL_CLOCK, random: Math.random, readsPods, registry, log });
  const ring = createDrainRing(DRAINS_REMEMBERED);
  const { watchPod } = slices;
  const app = relayServer(log, known.contextFor);
  const guard = { checkCredential, limits: createRelayLimits(), nowMs, registry };
  const recording = { ring, countDrain: drainMeters(registry), tell: parts.tellDrain, newId: parts.newId, log };
  const lost = readsPods ? lostDrains(ask, recording) : NO_LOST_DRAINS;
  addWithdrawalRoute(app, { ...guard, watchPod, lost, clock: REAL_CLOCK, wallMs });
  addDrainsRoute(app, { ...guard, ...recording, onReport: lost.reported, wallMs });
  await app.ready();
  await showDrains(parts, ring);
  return {
    look: known.look,
    listen: (host, port) => openPort(app.server, "the relay's port", host, port),
    leave: async () => {
      const gone = new AbortController();
      app.server.close(() => gone.abort());
      // Ends the streams; it does not close a server that it did not open.
      await app.close();
      await REAL_CLOCK.sleep(LEAVING_MS, gone.signal);
      app.server.closeAllConnections();
    },
  };
}

function lostDrains(ask: AskApi, recording: RecordPorts): LostDrains {
  return createLostDrains({
    ask,
    clock: REAL_CLOCK,
    onLost: (drain, end) => {
      const { pod, claims, brokeAtMs } = drain;
      recordDrain({ pod, claims, endedAtMs: brokeAtMs, report: lostReport(drain, end) }, recording);
    },
  });
}

/** A port in use must not keep the relay from serving. */
async function showDrains({ adminPort, adminListen, instance, log }: RelayParts, drains: DrainRing): Promise<void> {
  if (adminPort === 0) return;
  try {
    const admin = await openAdmin({ drains, instance }, adminPort, adminListen);
    log.info({ adminListen, adminPort: admin.port }, "showing recent drains");
  } catch (error) {
    log.error({ err: error }, "recent drains cannot be shown");
  }
}
