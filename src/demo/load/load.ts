/**
 * Generates the load: each client loops over a request, its response or failure, and a pause, without retries.
 *
 * Pooled connections have a bounded, random age, as in pools and proxies, and are closed between two requests. Only
 * the clients of `--endless-clients` never close their connections.
 */
import type { Clock } from "../clock.ts";
import { type FailureKind, type HttpConnection, type HttpTarget, openConnection } from "./http-client.ts";

export type LoadOptions = {
  readonly newConnectionClients: number;
  readonly pooledClients: number;
  readonly slowClients: number;
  readonly endlessClients: number;
  readonly maxConnectionMs: number;
  readonly path: string;
  /** Path of slow requests, to which their duration in milliseconds is appended; if `undefined`, slow clients request `path`. */
  readonly slowPath: string | undefined;
};

export const DEFAULT_LOAD: LoadOptions = {
  newConnectionClients: 4,
  pooledClients: 5,
  slowClients: 4,
  endlessClients: 0,
  maxConnectionMs: 3_000,
  path: "/",
  slowPath: "/slow?ms=",
};

type LoadPorts = {
  readonly clock: Clock;
  readonly target: HttpTarget;
  readonly counter: RequestCounter;
  readonly random: () => number;
};

export type Load = {
  readonly requestLong: (host: string, port: number, ms: number) => void;
  readonly stop: () => Promise<void>;
};

const PAUSE_MS = { min: 20, max: 80 };
/** With a shorter pause one outage would count as many failures. */
const PAUSE_AFTER_FAILURE_MS = 100;
const SLOW_MS = { min: 1_000, max: 5_000 };
const MIN_CONNECTION_MS = 500;

export function startLoad(options: LoadOptions, ports: LoadPorts): Load {
  const stopping = new AbortController();
  const randomBetween = (min: number, max: number) => min + ports.random() * (max - min);
  const send = async (client: ClientKind, connection: HttpConnection, path: string, keepAlive: boolean) => {
    const { failure } = await connection.request(path, keepAlive);
    ports.counter.count(client, failure);
    return failure !== undefined;
  };

  const repeatUntilStopped = async (sendOnce: () => Promise<boolean>) => {
    // Clients that start together would stay synchronized.
    await ports.clock.wait(randomBetween(0, 200), stopping.signal);
    while (!stopping.signal.aborted) {
      const pauseMs = (await sendOnce()) ? PAUSE_AFTER_FAILURE_MS : randomBetween(PAUSE_MS.min, PAUSE_MS.max);
      await ports.clock.wait(pauseMs, stopping.signal);
    }
  };
  const sendOnNewConnections = (client: ClientKind, path: () => string) =>
    repeatUntilStopped(() => send(client, openConnection(ports.target), path(), false));
  const sendOnReusedConnections = (client: ClientKind, maxAgeMs: () => number) => {
    let connection: HttpConnection | undefined;
    let endMs = 0;
    return repeatUntilStopped(async () => {
      if (connection === undefined || !connection.isUsable() || ports.clock.nowMs() >= endMs) {
        connection?.close();
        connection = openConnection(ports.target);
        endMs = ports.clock.nowMs() + maxAgeMs();
      }
      return send(client, connection, options.path, true);
    }).finally(() => connection?.close());
  };

  const slowPathOf = (ms: number) =>
    options.slowPath === undefined ? options.path : `${options.slowPath}${Math.round(ms)}`;
  const randomSlowPath = () => slowPathOf(randomBetween(SLOW_MS.min, SLOW_MS.max));
  const randomConnectionMs = () =>
    randomBetween(Math.min(MIN_CONNECTION_MS, options.maxConnectionMs), options.maxConnectionMs);
  const startClients = (count: number, startClient: () => Promise<void>) => Array.from({ length: count }, startClient);
  const activeClients: Promise<unknown>[] = [
    ...startClients(options.newConnectionClients, () => sendOnNewConnections("new-connection", () => options.path)),
    ...startClients(options.pooledClients, () => sendOnReusedConnections("pooled", randomConnectionMs)),
    ...startClients(options.slowClients, () => sendOnNewConnections("slow", randomSlowPath)),
    ...startClients(options.endlessClients, () => sendOnReusedConnections("endless", () => Number.POSITIVE_INFINITY)),
  ];
  return {
    requestLong: (host, port, ms) => {
      activeClients.push(send("long", openConnection({ ...ports.target, host, port }), slowPathOf(ms), false));
    },
    stop: async () => {
      stopping.abort();
      await Promise.all(activeClients);
    },
  };
}

export type ClientKind = "new-connection" | "pooled" | "slow" | "long" | "endless";

type Counts = { readonly requests: number; readonly failed: number };

export type RequestCounts = Counts & {
  readonly kinds: Readonly<Record<FailureKind, number>>;
  readonly clients: Readonly<Record<ClientKind, Counts>>;
};

export type RequestCounter = {
  readonly count: (client: ClientKind, failure: FailureKind | undefined) => void;
  readonly counts: () => RequestCounts;
};

export function createRequestCounter(): RequestCounter {
  const zeroCounts = () => ({ requests: 0, failed: 0 });
  const totals = {
    ...zeroCounts(),
    kinds: { refused: 0, reset: 0, "closed-unanswered": 0, "timed-out": 0, "bad-status": 0 },
    clients: {
      "new-connection": zeroCounts(),
      pooled: zeroCounts(),
      slow: zeroCounts(),
      long: zeroCounts(),
      endless: zeroCounts(),
    },
  };
  return {
    count: (client, failure) => {
      for (const counts of [totals, totals.clients[client]]) {
        counts.requests += 1;
        if (failure !== undefined) counts.failed += 1;
      }
      if (failure !== undefined) totals.kinds[failure] += 1;
    },
    counts: () => structuredClone(totals),
  };
}
