/** Serves the documented admin interface of Envoy, with faults on demand. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { ownAddress } from "../leases/own-address.ts";

/** Replaces the response to one request; a number is an HTTP status. */
export type Fault = "refuse" | "hang" | number;

export type FakeEnvoy = {
  /** An http URL, or `unix:` and a path. The host is not the Pod's, because the manager counts connections to the Pod as clients. */
  readonly url: string;
  /** Received requests such as `POST /healthcheck/fail`, except the requests for statistics. */
  readonly calls: readonly string[];
  readonly statsRequestCount: () => number;
  /** Returns the statistics that follow those of the admin interface's own listener. */
  stats: () => readonly string[];
  /** Replaces all statistics, including those of the admin interface's own listener. */
  allStats: (() => readonly string[]) | undefined;
  /** Faults for the next requests, in order. `defaultFault` applies to all requests after them. */
  readonly faults: Fault[];
  defaultFault: Fault | undefined;
  /** Simulates a restart: the new process is not draining and its health check succeeds. */
  readonly restart: () => void;
  /** Simulates a hot restart: the new process inherits the statistics, but not the drain. */
  readonly hotRestart: () => void;
  health: "ok" | "failed";
  isDraining: boolean;
  readonly stop: () => Promise<void>;
};

const ADMIN_PORT = 19_000;

/** @param socketPath a Unix socket to listen on instead of a port */
export async function startFakeEnvoy(socketPath = ""): Promise<FakeEnvoy> {
  const calls: string[] = [];
  const faults: Fault[] = [];
  let adminRequestCount = 0;
  let statsRequestCount = 0;
  let epoch = 0;
  const server = createServer((req, res) => {
    const fault = faults.shift() ?? fake.defaultFault;
    if (req.url?.startsWith("/stats")) statsRequestCount += 1;
    else calls.push(`${req.method} ${req.url}`);
    if (fault === "hang") return;
    if (fault === "refuse") req.socket.destroy();
    else if (fault !== undefined) res.writeHead(fault).end();
    else {
      adminRequestCount += 1;
      respond(req, res);
    }
  });
  const respond = (req: IncomingMessage, res: ServerResponse) => {
    if (req.url === "/healthcheck/fail") fake.health = "failed";
    if (req.url === "/healthcheck/ok") fake.health = "ok";
    if (req.url?.startsWith("/drain_listeners")) fake.isDraining = true;
    if (!req.url?.startsWith("/stats?filter=")) res.end("OK\n");
    else {
      const lines = fake.allStats?.() ?? [...adminLines(adminRequestCount, epoch), ...fake.stats()];
      res.end(lines.map((line) => `${line}\n`).join(""));
    }
  };
  const url = socketPath === "" ? await listenOnOwnAddress(server) : `unix:${socketPath}`;
  if (socketPath !== "") await new Promise<void>((done) => server.listen(socketPath, done));
  const fake: FakeEnvoy = {
    url,
    calls,
    statsRequestCount: () => statsRequestCount,
    stats: () => listenerLines("0.0.0.0_8080"),
    allStats: undefined,
    faults,
    defaultFault: undefined,
    restart: () => {
      adminRequestCount = 0;
      epoch = 0;
      fake.health = "ok";
      fake.isDraining = false;
    },
    hotRestart: () => {
      epoch += 1;
      fake.health = "ok";
      fake.isDraining = false;
    },
    health: "ok",
    isDraining: false,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
  return fake;
}

/** Listens on a leased address, so no other server responds at the address after this server has stopped. */
async function listenOnOwnAddress(server: Server): Promise<string> {
  const host = ownAddress();
  await new Promise<void>((done) => server.listen(ADMIN_PORT, host, done));
  return `http://${host}:${ADMIN_PORT}`;
}

/** Statistics of the admin interface's own listener. They include the request that reads the statistics. */
export function adminLines(total: number, epoch = 0): string[] {
  return [
    `server.hot_restart_epoch: ${epoch}`,
    "http.admin.downstream_cx_active: 1",
    "http.admin.downstream_cx_upgrades_active: 0",
    "http.admin.downstream_rq_active: 1",
    `http.admin.downstream_rq_total: ${total}`,
    "listener.admin.downstream_cx_active: 1",
    `listener.admin.downstream_cx_total: ${total}`,
    `listener.admin.http.admin.downstream_rq_completed: ${total}`,
    "listener.admin.main_thread.downstream_cx_active: 1",
    `listener.admin.main_thread.downstream_cx_total: ${total}`,
  ];
}

export type ListenerTraffic = {
  readonly connections?: number;
  readonly connectionTotal?: number;
  /** Absent for a TCP listener. */
  readonly http?: {
    readonly prefix: string;
    readonly requests?: number;
    readonly connections?: number;
    readonly completedRequests?: number;
    readonly upgrades?: number;
  };
};

/** Statistics of a listener with two worker threads. */
export function listenerLines(name: string, traffic: ListenerTraffic = { http: { prefix: "web" } }): string[] {
  const { connections = 0, connectionTotal = 0, http } = traffic;
  const threadLines = [0, 1].flatMap((n) => [
    `listener.${name}.worker_${n}.downstream_cx_active: ${n === 0 ? connections : 0}`,
    `listener.${name}.worker_${n}.downstream_cx_total: ${n === 0 ? connectionTotal : 0}`,
  ]);
  const listenerTotals = [
    `listener.${name}.downstream_cx_active: ${connections}`,
    `listener.${name}.downstream_cx_total: ${connectionTotal}`,
  ];
  if (http === undefined) return [...listenerTotals, ...threadLines];
  return [
    `http.${http.prefix}.downstream_cx_active: ${http.connections ?? connections}`,
    `http.${http.prefix}.downstream_cx_upgrades_active: ${http.upgrades ?? 0}`,
    `http.${http.prefix}.downstream_rq_active: ${http.requests ?? 0}`,
    ...listenerTotals,
    `listener.${name}.http.${http.prefix}.downstream_rq_completed: ${http.completedRequests ?? 0}`,
    ...threadLines,
  ];
}
