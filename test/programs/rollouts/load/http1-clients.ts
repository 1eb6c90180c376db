/** Runs the HTTP/1.1 clients of one node on pooled, new, slow and idle connections. Clients do not retry requests. */
import { type HttpConnection, openConnection } from "../../../../src/demo/load/http-client.ts";
import type { NodeClients, NodePorts } from "./node-ports.ts";
import { chooseCloseMs } from "./timing.ts";

type PooledConnection = {
  readonly connection: HttpConnection;
  readonly pod: string;
  readonly openedMs: number;
  readonly endsMs: number;
  requests: number;
};

const MIN_SLOW_RESPONSE_MS = 1_000;

export type Http1Clients = NodeClients & {
  readonly startSlow: (clients: number) => void;
  readonly openIdle: () => void;
};

export function createHttp1Clients(ports: NodePorts): Http1Clients {
  const { counter, plan, nowMs, random } = ports;
  const idleConnections: PooledConnection[] = [];
  const idleConnectionByPod = new Map<string, HttpConnection>();
  const pendingTasks = new Set<Promise<unknown>>();
  let openCount = 0;
  let sentCount = 0;
  let isStopping = false;

  const connectTo = (pod: string): PooledConnection => {
    const openedMs = nowMs();
    const connection = openConnection({ ...ports.target, host: pod, port: plan.ports.http1, wasRefused: () => false });
    counter.recordActivity(pod);
    return { connection, pod, openedMs, endsMs: chooseCloseMs(plan.lives, openedMs, random()), requests: 0 };
  };
  const request = async (pooled: PooledConnection, path: string, keepOpen: boolean): Promise<boolean> => {
    counter.recordActivity(pooled.pod);
    const { failure } = await pooled.connection.request(path, keepOpen);
    const { pod, requests } = pooled;
    pooled.requests += 1;
    if (failure === undefined) counter.countResponse("http1", pod);
    else {
      const connectionAgeMs = Math.round(nowMs() - pooled.openedMs);
      counter.countFailure({ protocol: "http1", kind: failure, pod, connectionAgeMs, requestsBefore: requests });
    }
    return failure === undefined;
  };
  const track = (task: Promise<unknown>) => {
    pendingTasks.add(task);
    void task.finally(() => pendingTasks.delete(task));
  };
  const closePooled = (pooled: PooledConnection) => {
    openCount -= 1;
    pooled.connection.close();
  };
  /** Returns the connection that was idle longest, so that all connections are used often; closes expired connections. */
  const takeIdleConnection = (): PooledConnection | undefined => {
    for (;;) {
      const pooled = idleConnections.shift();
      if (pooled === undefined || (pooled.connection.isUsable() && nowMs() < pooled.endsMs)) return pooled;
      closePooled(pooled);
    }
  };
  const acquireConnection = (): PooledConnection | undefined => {
    const pooled = openCount < plan.keptHttp1 ? undefined : takeIdleConnection();
    if (pooled !== undefined) return pooled;
    const pod = ports.nextPod();
    if (pod === undefined) return undefined;
    openCount += 1;
    return connectTo(pod);
  };
  const countMissingEndpoint = () =>
    counter.countFailure({ protocol: "http1", kind: "no endpoint", pod: "", connectionAgeMs: 0, requestsBefore: 0 });
  const requestOnNewConnection = async (path: string): Promise<boolean> => {
    const pod = ports.nextPod();
    if (pod !== undefined) return request(connectTo(pod), path, false);
    countMissingEndpoint();
    return false;
  };
  const requestOnPooledConnection = async (): Promise<void> => {
    const pooled = acquireConnection();
    if (pooled === undefined) return countMissingEndpoint();
    await request(pooled, "/", true);
    // While all pooled connections wait for responses, clients open more connections than the pool keeps.
    const isKept = plan.lives === "endless" || openCount <= plan.keptHttp1;
    if (pooled.connection.isUsable() && !isStopping && isKept) idleConnections.push(pooled);
    else closePooled(pooled);
  };

  return {
    sendRequest: () => {
      sentCount += 1;
      track(sentCount % plan.newConnectionEvery === 0 ? requestOnNewConnection("/") : requestOnPooledConnection());
    },
    startSlow: (clients) => {
      const sendSlowRequests = async () => {
        while (!isStopping) {
          const ms = Math.round(MIN_SLOW_RESPONSE_MS + random() * (plan.slowestResponseMs - MIN_SLOW_RESPONSE_MS));
          if (!(await requestOnNewConnection(`/slow?ms=${ms}`))) await ports.target.clock.wait(MIN_SLOW_RESPONSE_MS);
        }
      };
      for (let client = 0; client < clients; client += 1) track(sendSlowRequests());
    },
    openIdle: () => {
      for (const pod of ports.usablePods()) {
        if (idleConnectionByPod.has(pod)) continue;
        const pooled = connectTo(pod);
        idleConnectionByPod.set(pod, pooled.connection);
        track(request(pooled, "/", true));
      }
    },
    closeExpired: () => {
      for (const pooled of idleConnections.filter(
        ({ endsMs, connection }) => nowMs() >= endsMs || !connection.isUsable(),
      )) {
        idleConnections.splice(idleConnections.indexOf(pooled), 1);
        closePooled(pooled);
      }
    },
    stop: async () => {
      isStopping = true;
      await Promise.all(pendingTasks);
      for (const { connection } of idleConnections) connection.close();
      for (const connection of idleConnectionByPod.values()) connection.close();
    },
  };
}
