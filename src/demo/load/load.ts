/**
 * The clients of the demo: closed loops of a request, its answer or failure, and a pause, without retries.
 *
 * A pooled connection lives a bounded, random time, as in pools and proxies, and ends between two requests. Only
 * `--endless-clients` keep theirs for ever.
 */
import type { Clock } from "../clock.ts";
import { type FailureKind, type HttpConnection, type HttpTarget, openConnection } from "./http-client.ts";

export type LoadShape = {
  readonly newConnectionClients: number;
  readonly pooledClients: number;
  readonly slowClients: number;
  readonly endlessClients: number;
  /** A pooled connection lives at most this long. */
  readonly poolLifeMs: number;
  readonly path: string;
  /** Path of a request that takes `ms`; without it slow clients request `path`. */
  readonly slowPath: ((ms: number) => string) | undefined;
};

export const DEFAULT_LOAD: LoadShape = {
  newConnectionClients: 4,
  pooledClients: 5,
  slowClients: 4,
  endlessClients: 0,
  poolLifeMs: 3_000,
  path: "/",
  slowPath: (ms) => `/slow?ms=${ms}`,
};

type LoadPorts = {
  readonly clock: Clock;
  readonly target: HttpTarget;
  readonly counter: RequestCounter;
  /** From 0 to 1. */
  readonly random: () => number;
};

type Load = {
  /** One request of `ms` on a connection of its own to `host`, counted as `long`. */
  readonly requestLong: (host: string, port: number, ms: number) => void;
  /** Resolves when every request under way has ended. */
  readonly stop: () => Promise<void>;
};

const PAUSE_MS = { least: 20, most: 80 };
/** Longer, or one outage would count many times over. */
const PAUSE_AFTER_FAILURE_MS = 100;
const SLOW_MS = { least: 1_000, most: 5_000 };
const LEAST_POOL_LIFE_MS = 500;

export function startLoad(shape: LoadShape, ports: LoadPorts): Load {
  const stopping = new AbortController();
  const between = (least: number, most: number) => least + ports.random() * (most - least);
  const send = async (client: ClientKind, connection: HttpConnection, path: string, keepOpen: boolean) => {
    const { failure } = await connection.request(path, keepOpen);
    ports.counter.count(client, failure);
    return failure !== undefined;
  };

  const repeat = async (once: () => Promise<boolean>) => {
    // Clients that start in step stay in step.
    await ports.clock.wait(between(0, 200), stopping.signal);
    while (!stopping.signal.aborted) {
      const pauseMs = (await once()) ? PAUSE_AFTER_FAILURE_MS : between(PAUSE_MS.least, PAUSE_MS.most);
      await ports.clock.wait(pauseMs, stopping.signal);
    }
  };
  const single = (client: ClientKind, path: () => string) =>
    repeat(() => send(client, openConnection(ports.target), path(), false));
  const keeping = (client: ClientKind, lifeMs: () => number) => {
    let connection: HttpConnection | undefined;
    let endsMs = 0;
    return repeat(async () => {
      if (connection === undefined || !connection.isUsable() || ports.clock.nowMs() >= endsMs) {
        connection?.close();
        connection = openConnection(ports.target);
        endsMs = ports.clock.nowMs() + lifeMs();
      }
      return send(client, connection, shape.path, true);
    }).finally(() => connection?.close());
  };

  const slowPath = () => shape.slowPath?.(Math.round(between(SLOW_MS.least, SLOW_MS.most))) ?? shape.path;
  const poolLife = () => between(Math.min(LEAST_POOL_LIFE_MS, shape.poolLifeMs), shape.poolLifeMs);
  const times = (length: number, start: () => Promise<void>) => Array.from({ length }, start);
  const work: Promise<unknown>[] = [
    ...times(shape.newConnectionClients, () => single("new-connection", () => shape.path)),
    ...times(shape.pooledClients, () => keeping("pooled", poolLife)),
    ...times(shape.slowClients, () => single("slow", slowPath)),
    ...times(shape.endlessClients, () => keeping("endless", () => Number.POSITIVE_INFINITY)),
  ];
  return {
    requestLong: (host, port, ms) => {
      const path = shape.slowPath?.(ms) ?? shape.path;
      work.push(send("long", openConnection({ ...ports.target, host, port }), path, false));
    },
    stop: async () => {
      stopping.abort();
      await Promise.all(work);
    },
  };
}

export type ClientKind = "new-connection" | "pooled" | "slow" | "long" | "endless";

type Counts = { readonly requests: number; readonly failed: number };

export type Tally = Counts & {
  readonly kinds: Readonly<Record<FailureKind, number>>;
  readonly clients: Readonly<Record<ClientKind, Counts>>;
};

export type RequestCounter = {
  readonly count: (client: ClientKind, failure: FailureKind | undefined) => void;
  readonly tally: () => Tally;
};

/** Counts requests, and failures by kind and by client. */
export function createRequestCounter(): RequestCounter {
  const counts = () => ({ requests: 0, failed: 0 });
  const tally = {
    ...counts(),
    kinds: { refused: 0, reset: 0, "closed-unanswered": 0, "timed-out": 0, "bad-status": 0 },
    clients: { "new-connection": counts(), pooled: counts(), slow: counts(), long: counts(), endless: counts() },
  };
  return {
    count: (client, failure) => {
      for (const counted of [tally, tally.clients[client]]) {
        counted.requests += 1;
        if (failure !== undefined) counted.failed += 1;
      }
      if (failure !== undefined) tally.kinds[failure] += 1;
    },
    tally: () => structuredClone(tally),
  };
}
