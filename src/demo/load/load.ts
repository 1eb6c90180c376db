/**
 * The clients of the demo, all in closed loops: one request each, an answer or a failure, a pause, the next.
 *
 * None retries. A pooled connection lives a bounded, random time, as pools and proxies have it, and its life ends between
 * two requests. Only `--endless-clients` keep theirs for ever.
 */
import type { Clock } from "../clock.ts";
import { type HttpConnection, type HttpTarget, openConnection } from "./http-client.ts";
import type { ClientKind, RequestCounter } from "./request-tally.ts";

export type LoadShape = {
  readonly newConnectionClients: number;
  readonly pooledClients: number;
  readonly slowClients: number;
  readonly endlessClients: number;
  /** A pooled connection lives at most this long. */
  readonly poolLifeMs: number;
  readonly path: string;
  /** Where a request that takes `ms` is asked for; without it slow clients ask for `path`. */
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
  readonly askLong: (host: string, port: number, ms: number) => void;
  /** Lets every request under way end, then resolves. */
  readonly stop: () => Promise<void>;
};

const PAUSE_MS = { least: 20, most: 80 };
/** A client that failed waits longer, as anything sensible does; otherwise failures would count many times over. */
const PAUSE_AFTER_FAILURE_MS = 100;
const SLOW_MS = { least: 1_000, most: 5_000 };
const LEAST_POOL_LIFE_MS = 500;

export function startLoad(shape: LoadShape, ports: LoadPorts): Load {
  const stopping = new AbortController();
  const between = (least: number, most: number) => least + ports.random() * (most - least);
  const pause = (failed: boolean) =>
    ports.clock.wait(failed ? PAUSE_AFTER_FAILURE_MS : between(PAUSE_MS.least, PAUSE_MS.most), stopping.signal);
  const ask = async (client: ClientKind, connection: HttpConnection, path: string, keepOpen: boolean) => {
    const { failure } = await connection.request(path, keepOpen);
    ports.counter.count(client, failure);
    return failure !== undefined;
  };

  const repeat = async (once: () => Promise<boolean>) => {
    // Clients that start in step stay in step: spread them.
    await ports.clock.wait(between(0, 200), stopping.signal);
    while (!stopping.signal.aborted) await pause(await once());
  };
  const single = (client: ClientKind, path: () => string) =>
    repeat(() => ask(client, openConnection(ports.target), path(), false));
  const keeping = (client: ClientKind, lifeMs: () => number) => {
    let connection: HttpConnection | undefined;
    let endsMs = 0;
    return repeat(async () => {
      if (connection === undefined || !connection.isUsable() || ports.clock.nowMs() >= endsMs) {
        connection?.close();
        connection = openConnection(ports.target);
        endsMs = ports.clock.nowMs() + lifeMs();
      }
      return ask(client, connection, shape.path, true);
    }).finally(() => connection?.close());
  };

  const slowPath = () => shape.slowPath?.(Math.round(between(SLOW_MS.least, SLOW_MS.most))) ?? shape.path;
  const poolLife = () => between(Math.min(LEAST_POOL_LIFE_MS, shape.poolLifeMs), shape.poolLifeMs);
  const work: Promise<unknown>[] = [
    ...times(shape.newConnectionClients, () => single("new-connection", () => shape.path)),
    ...times(shape.pooledClients, () => keeping("pooled", poolLife)),
    ...times(shape.slowClients, () => single("slow", slowPath)),
    ...times(shape.endlessClients, () => keeping("endless", () => Number.POSITIVE_INFINITY)),
  ];
  return {
    askLong: (host, port, ms) => {
      const path = shape.slowPath?.(ms) ?? shape.path;
      work.push(ask("long", openConnection({ ...ports.target, host, port }), path, false));
    },
    stop: async () => {
      stopping.abort();
      await Promise.all(work);
    },
  };
}

function times<T>(count: number, make: () => T): T[] {
  return Array.from({ length: count }, make);
}
