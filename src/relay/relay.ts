/** Puts the relay together: who it is, what it watches, what it answers, and what it shows. */
import type { RequestListener } from "node:http";
import type { SecureContext } from "node:tls";
import type { KubeConfig } from "@kubernetes/client-node";
import type { Registry } from "prom-client";
import { apiRunner } from "../api-server/api-runner.ts";
import type { SendNote } from "../api-server/event-sender.ts";
import { secretStore } from "../api-server/secret-store.ts";
import type { GiveRelayAccess } from "../contract/relay-access.ts";
import { drainMeters } from "./drains/drain-metrics.ts";
import { createDrainRing, type DrainRing } from "./drains/drain-ring.ts";
import { addDrainsRoute } from "./drains/route.ts";
import { runIdentity } from "./identity/identity-runner.ts";
import { IDENTITY_TOOLS } from "./identity/identity-tools.ts";
import { credentialCheck, relayAccess } from "./identity/relay-access.ts";
import { readRelayAddress } from "./identity/relay-address.ts";
import { createRelayLimits } from "./limits/relay-limits.ts";
import { type OpenAdmin, openAdmin } from "./page/admin-runner.ts";
import { relayServer } from "./relay-server.ts";
import { REAL_CLOCK } from "./slices/clock-runner.ts";
import { createSliceWatches } from "./slices/slice-watches.ts";
import { addWithdrawalRoute } from "./withdrawal/route.ts";

export type RelayLog = Readonly<Record<"info" | "warn" | "error", (keys: object, sentence: string) => void>>;

export type RelayParts = {
  readonly connection: KubeConfig;
  /** Where the Secret is. */
  readonly namespace: string;
  readonly secretName: string;
  /** As it was given: without an IP address and port in it, Pods get no relay. */
  readonly address: string;
  readonly readsPods: boolean;
  /** 0: recent drains are not shown. */
  readonly adminPort: number;
  /** This replica's name. */
  readonly instance: string;
  readonly tellDrain: SendNote;
  /** Random hexadecimal characters that were never given out before, at least 16. */
  readonly newToken: () => string;
  /** Wall clock, milliseconds. */
  readonly wallMs: () => number;
  readonly log: RelayLog;
  readonly registry: Registry;
};

export type Relay = {
  /** `undefined` when Pods cannot be told where the relay is. */
  readonly giveRelayAccess: GiveRelayAccess | undefined;
  /** Looks after the Secret and the certificates; to be called from time to time. Never rejects. */
  readonly look: () => Promise<void>;
  /** The certificate for a name TLS was asked for; `undefined` when the name is not the relay's. */
  readonly contextFor: (serverName: string) => SecureContext | undefined | Promise<SecureContext | undefined>;
  /** Answers a request on a connection that has such a certificate. */
  readonly handle: RequestListener;
  /** Resolves a moment after it has left: what is still open then is silent or slow. */
  readonly gone: Promise<void>;
  /** Ends the open streams, so that managers ask another replica. */
  readonly leave: () => Promise<void>;
  /** Lets go of everything that would keep the process. */
  readonly stop: () => Promise<void>;
};

/** For answers and the ends of streams to arrive, in milliseconds. */
const LEAVING_MS = 1_000;
/** A record takes 3 KiB at most. */
const DRAINS_REMEMBERED = 1_000;

/** Rejects never for want of an API server or a port: without them the relay does less, and the log says so. */
export async function startRelay(parts: RelayParts): Promise<Relay> {
  const { wallMs, newToken, log, registry } = parts;
  const api = apiRunner(parts.connection);
  const { nowMs } = REAL_CLOCK;
  const secrets = secretStore(api.ask, parts.namespace, parts.secretName);
  const known = runIdentity({ secrets, tools: IDENTITY_TOOLS, wallMs, nowMs, log, registry });
  const access = {
    identity: known.identity,
    wallMs,
    newNonce: newToken,
    onUnknownKey: () => void known.lookSoon(),
  };
  const checkCredential = credentialCheck(access);
  const { ask, stream } = api;
  const { readsPods } = parts;
  const slices = createSliceWatches({ ask, stream, clock: REAL_CLOCK, random: Math.random, readsPods, registry, log });
  const ring = createDrainRing(DRAINS_REMEMBERED);
  const { watchPod } = slices;
  const app = relayServer(log);
  const limits = createRelayLimits();
  addWithdrawalRoute(app, { checkCredential, watchPod, limits, clock: REAL_CLOCK, registry });
  const meters = drainMeters(registry);
  addDrainsRoute(app, {
    checkCredential,
    limits,
    ring,
    meters,
    tell: parts.tellDrain,
    nowMs,
    wallMs,
    newId: newToken,
    log,
  });
  await app.ready();
  const stopped = new AbortController();
  let left: () => void = () => undefined;
  const gone = new Promise<void>((resolve) => {
    left = resolve;
  });
  const admin = await adminOf(parts, ring);
  return {
    giveRelayAccess: accessOf(parts, (address) => relayAccess(address, access)),
    look: known.look,
    contextFor: known.contextFor,
    handle: (request, response) => app.routing(request, response),
    gone,
    leave: async () => {
      await app.close();
      await REAL_CLOCK.sleep(LEAVING_MS, stopped.signal);
      left();
    },
    stop: async () => {
      stopped.abort();
      await app.close();
      await Promise.all([slices.stop(), admin?.close()]);
      api.close();
    },
  };
}

function accessOf(parts: RelayParts, give: (address: string) => GiveRelayAccess): GiveRelayAccess | undefined {
  const address = readRelayAddress(parts.address);
  if (address !== undefined) return give(address);
  const given = parts.address.slice(0, 100);
  parts.log.warn({ address: given }, "the relay's address is no IP address with a port, Pods are not given the relay");
  return undefined;
}

/** A port in use must not keep admissions from being served. */
async function adminOf(parts: RelayParts, drains: DrainRing): Promise<OpenAdmin | undefined> {
  if (parts.adminPort === 0) return undefined;
  try {
    const admin = await openAdmin({ drains, instance: parts.instance }, parts.adminPort);
    parts.log.info({ adminPort: admin.port }, "showing recent drains");
    return admin;
  } catch (error) {
    parts.log.error({ err: error }, "recent drains cannot be shown");
    return undefined;
  }
}
