/** Serves the documented admin interface of Envoy, with faults on demand. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { ownAddress } from "../leases/own-address.ts";

/** Replaces the response to one call; a number is a status. */
export type Fault = "refuse" | "hang" | number;

export type FakeEnvoy = {
  /** Loopback, but not the Pod's address, whose connections the manager counts as clients. Or `unix:` and a path. */
  readonly url: string;
  /** Calls such as `POST /healthcheck/fail`, without those for statistics. */
  readonly calls: readonly string[];
  readonly statsRequests: () => number;
  /** Added to the lines of the admin interface itself. */
  stats: () => readonly string[];
  /** Replaces all lines. */
  bareStats: (() => readonly string[]) | undefined;
  /** Faults of the next calls, in order; `always` applies afterwards. */
  readonly faults: Fault[];
  always: Fault | undefined;
  /** Replaces the process, which loses its drain and its failed health check. */
  readonly restart: () => void;
  /** Replaces the process by one that keeps only the counts. */
  readonly takeOver: () => void;
  health: "ok" | "failed";
  draining: boolean;
  readonly stop: () => Promise<void>;
};

const ADMIN_PORT = 19_000;

/** @param socketPath replaces the port */
export async function startFakeEnvoy(socketPath = ""): Promise<FakeEnvoy> {
  const calls: string[] = [];
  const faults: Fault[] = [];
  let admin = 0;
  let statsRequests = 0;
  let epoch = 0;
  const server = createServer((req, res) => {
    const fault = faults.shift() ?? fake.always;
    if (req.url?.startsWith("/stats")) statsRequests += 1;
    else calls.push(`${req.method} ${req.url}`);
    if (fault === "hang") return;
    if (fault === "refuse") req.socket.destroy();
    else if (fault !== undefined) res.writeHead(fault).end();
    else {
      admin += 1;
      answer(req, res);
    }
  });
  const answer = (req: IncomingMessage, res: ServerResponse) => {
    if (req.url === "/healthcheck/fail") fake.health = "failed";
    if (req.url === "/healthcheck/ok") fake.health = "ok";
    if (req.url?.startsWith("/drain_listeners")) fake.draining = true;
    if (!req.url?.startsWith("/stats?filter=")) res.end("OK\n");
    else {
      const lines = fake.bareStats?.() ?? [...adminLines(admin, epoch), ...fake.stats()];
      res.end(lines.map((line) => `${line}\n`).join(""));
    }
  };
  const place = socketPath === "" ? await listening(server) : `unix:${socketPath}`;
  if (socketPath !== "") await new Promise<void>((done) => server.listen(socketPath, done));
  const fake: FakeEnvoy = {
    url: place,
    calls,
    statsRequests: () => statsRequests,
    stats: () => listenerLines("0.0.0.0_8080"),
    bareStats: undefined,
    faults,
    always: undefined,
    restart: () => {
      admin = 0;
      epoch = 0;
      fake.health = "ok";
      fake.draining = false;
    },
    takeOver: () => {
      epoch += 1;
      fake.health = "ok";
      fake.draining = false;
    },
    health: "ok",
    draining: false,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
  return fake;
}

/** Listens on a leased address, so that no other server responds there after the end. */
async function listening(server: Server): Promise<string> {
  const host = ownAddress();
  await new Promise<void>((done) => server.listen(ADMIN_PORT, host, done));
  return `http://${host}:${ADMIN_PORT}`;
}

/** The request for statistics counts in them too. */
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

export type Busy = {
  readonly connections?: number;
  readonly arrived?: number;
  /** Absent for a TCP listener. */
  readonly http?: {
    readonly prefix: string;
    readonly requests?: number;
    readonly connections?: number;
    readonly answered?: number;
    readonly upgrades?: number;
  };
};

/** Statistics of a listener with two worker threads. */
export function listenerLines(name: string, busy: Busy = { http: { prefix: "web" } }): string[] {
  const { connections = 0, arrived = 0, http } = busy;
  const threads = [0, 1].flatMap((n) => [
    `listener.${name}.worker_${n}.downstream_cx_active: ${n === 0 ? connections : 0}`,
    `listener.${name}.worker_${n}.downstream_cx_total: ${n === 0 ? arrived : 0}`,
  ]);
  const own = [
    `listener.${name}.downstream_cx_active: ${connections}`,
    `listener.${name}.downstream_cx_total: ${arrived}`,
  ];
  if (http === undefined) return [...own, ...threads];
  return [
    `http.${http.prefix}.downstream_cx_active: ${http.connections ?? connections}`,
    `http.${http.prefix}.downstream_cx_upgrades_active: ${http.upgrades ?? 0}`,
    `http.${http.prefix}.downstream_rq_active: ${http.requests ?? 0}`,
    ...own,
    `listener.${name}.http.${http.prefix}.downstream_rq_completed: ${http.answered ?? 0}`,
    ...threads,
  ];
}
