/** HTTP/1.1 clients of one node: a pool of kept connections, new connections, slow requests, silent keepers. No one asks twice. */
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
  /** Asks every Pod that was not asked so before, once, and keeps the connection. */
  readonly keepSilent: () => void;
};

export function createHttp1Clients(ports: NodePorts): Http1Clients {
  const { book, plan, nowMs, random } = ports;
  const idle: Kept[] = [];
  const keepers = new Map<string, HttpConnection>();
  const work = new Set<Promise<unknown>>();
  let open = 0;
  let asked = 0;
  let stopping = false;

  const dial = (pod: string): Kept => {
    const openedMs = nowMs();
    const connection = openConnection({ ...ports.target, host: pod, port: plan.ports.http1, wasRefused: () => false });
    book.worked(pod);
    return { connection, pod, openedMs, endsMs: endOfLifeMs(plan.lives, openedMs, random()), requests: 0 };
  };
  const request = async (kept: Kept, path: string, keepOpen: boolean): Promise<boolean> => {
    book.worked(kept.pod);
    const { failure } = await kept.connection.request(path, keepOpen);
    const { pod, requests } = kept;
    kept.requests += 1;
    if (failure === undefined) book.answered("http1", pod);
    else {
      const connectionAgeMs = Math.round(nowMs() - kept.openedMs);
      book.failed({ protocol: "http1", kind: failure, pod, connectionAgeMs, requestsBefore: requests });
    }
    return failure === undefined;
  };
  const follow = (task: Promise<unknown>) => {
    work.add(task);
    void task.finally(() => work.delete(task));
  };
  const leave = (kept: Kept) => {
    open -= 1;
    kept.connection.close();
  };
  /** In turn, so that each speaks often; one that was closed meanwhile is dropped, as pools do. */
  const fromPool = (): Kept | undefined => {
    for (;;) {
      const kept = idle.shift();
      if (kept === undefined || (kept.connection.isUsable() && nowMs() < kept.endsMs)) return kept;
      leave(kept);
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
    book.failed({ protocol: "http1", kind: "no endpoint", pod: "", connectionAgeMs: 0, requestsBefore: 0 });
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
    // More than the pool keeps were opened because all of it waited for answers.
    if (kept.connection.isUsable() && !stopping && open <= plan.keptHttp1) idle.push(kept);
    else leave(kept);
  };

  return {
    ask: () => {
      asked += 1;
      follow(asked % plan.newConnectionEvery === 0 ? once("/") : onKept());
    },
    startSlow: (clients) => {
      const repeat = async () => {
        while (!stopping) {
          const ms = Math.round(SLOW_MS.least + random() * (SLOW_MS.most - SLOW_MS.least));
          if (!(await once(`/slow?ms=${ms}`))) await ports.target.clock.wait(SLOW_MS.least);
        }
      };
      for (let client = 0; client < clients; client += 1) follow(repeat());
    },
    keepSilent: () => {
      for (const pod of ports.usablePods()) {
        if (keepers.has(pod)) continue;
        const kept = dial(pod);
        keepers.set(pod, kept.connection);
        follow(request(kept, "/", true));
      }
    },
    sweep: () => {
      for (const kept of idle.filter(({ endsMs, connection }) => nowMs() >= endsMs || !connection.isUsable())) {
        idle.splice(idle.indexOf(kept), 1);
        leave(kept);
      }
    },
    stop: async () => {
      stopping = true;
      await Promise.all(work);
      for (const { connection } of idle) connection.close();
      for (const connection of keepers.values()) connection.close();
    },
  };
}
