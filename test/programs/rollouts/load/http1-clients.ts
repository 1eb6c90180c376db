/** HTTP/1.1 clients of one node: pooled, new, slow and idle connections. No request is retried. */
import { type HttpConnection, openConnection } from "../../../../src/demo/load/http-client.ts";
import type { NodeClients, NodePorts } from "./node-ports.ts";
import { endOfLifeMs } from "./timing.ts";

type Kept = {
  readonly connection: HttpConnection;
  readonly pod: string;
  readonly openedMs: number;
  readonly endsMs: number;
  requests: number;
};

const SLOW_MS = { least: 1_000, most: 4_000 };

export type Http1Clients = NodeClients & {
  readonly startSlow: (clients: number) => void;
  readonly openIdle: () => void;
};

export function createHttp1Clients(ports: NodePorts): Http1Clients {
  const { counter, plan, nowMs, random } = ports;
  const idle: Kept[] = [];
  const idleByPod = new Map<string, HttpConnection>();
  const work = new Set<Promise<unknown>>();
  let open = 0;
  let sent = 0;
  let stopping = false;

  const dial = (pod: string): Kept => {
    const openedMs = nowMs();
    const connection = openConnection({ ...ports.target, host: pod, port: plan.ports.http1, wasRefused: () => false });
    counter.recordActivity(pod);
    return { connection, pod, openedMs, endsMs: endOfLifeMs(plan.lives, openedMs, random()), requests: 0 };
  };
  const request = async (kept: Kept, path: string, keepOpen: boolean): Promise<boolean> => {
    counter.recordActivity(kept.pod);
    const { failure } = await kept.connection.request(path, keepOpen);
    const { pod, requests } = kept;
    kept.requests += 1;
    if (failure === undefined) counter.countAnswer("http1", pod);
    else {
      const connectionAgeMs = Math.round(nowMs() - kept.openedMs);
      counter.countFailure({ protocol: "http1", kind: failure, pod, connectionAgeMs, requestsBefore: requests });
    }
    return failure === undefined;
  };
  const track = (task: Promise<unknown>) => {
    work.add(task);
    void task.finally(() => work.delete(task));
  };
  const close = (kept: Kept) => {
    open -= 1;
    kept.connection.close();
  };
  /** Takes the connection that was idle longest, so that all are used often; drops closed ones. */
  const fromPool = (): Kept | undefined => {
    for (;;) {
      const kept = idle.shift();
      if (kept === undefined || (kept.connection.isUsable() && nowMs() < kept.endsMs)) return kept;
      close(kept);
    }
  };
  const take = (): Kept | undefined => {
    const kept = open < plan.keptHttp1 ? undefined : fromPool();
    if (kept !== undefined) return kept;
    const pod = ports.nextPod();
    if (pod === undefined) return undefined;
    open += 1;
    return dial(pod);
  };
  const noPod = () =>
    counter.countFailure({ protocol: "http1", kind: "no endpoint", pod: "", connectionAgeMs: 0, requestsBefore: 0 });
  const once = async (path: string): Promise<boolean> => {
    const pod = ports.nextPod();
    if (pod !== undefined) return request(dial(pod), path, false);
    noPod();
    return false;
  };
  const onKept = async (): Promise<void> => {
    const kept = take();
    if (kept === undefined) return noPod();
    await request(kept, "/", true);
    // While all pooled connections wait for answers, more are opened than the pool keeps.
    if (kept.connection.isUsable() && !stopping && open <= plan.keptHttp1) idle.push(kept);
    else close(kept);
  };

  return {
    sendRequest: () => {
      sent += 1;
      track(sent % plan.newConnectionEvery === 0 ? once("/") : onKept());
    },
    startSlow: (clients) => {
      const repeat = async () => {
        while (!stopping) {
          const ms = Math.round(SLOW_MS.least + random() * (SLOW_MS.most - SLOW_MS.least));
          if (!(await once(`/slow?ms=${ms}`))) await ports.target.clock.wait(SLOW_MS.least);
        }
      };
      for (let client = 0; client < clients; client += 1) track(repeat());
    },
    openIdle: () => {
      for (const pod of ports.usablePods()) {
        if (idleByPod.has(pod)) continue;
        const kept = dial(pod);
        idleByPod.set(pod, kept.connection);
        track(request(kept, "/", true));
      }
    },
    sweep: () => {
      for (const kept of idle.filter(({ endsMs, connection }) => nowMs() >= endsMs || !connection.isUsable())) {
        idle.splice(idle.indexOf(kept), 1);
        close(kept);
      }
    },
    stop: async () => {
      stopping = true;
      await Promise.all(work);
      for (const { connection } of idle) connection.close();
      for (const connection of idleByPod.values()) connection.close();
    },
  };
}
