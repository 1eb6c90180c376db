/** The admin interface of an Envoy as it answers by its documentation, with the faults that a case asks for. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { ownAddress } from "../leases/own-address.ts";

/** How one call is answered instead of as usual. */
export type Fault = "refuse" | "hang" | number;

export type FakeEnvoy = {
  /** Loopback, but not the Pod's address: the manager takes that one for the outside. Or `unix:` and a path. */
  readonly url: string;
  /** `POST /healthcheck/fail` and so on, without the statistics. */
  readonly calls: readonly string[];
  readonly asked: () => number;
  /** Lines besides the admin interface's own. */
  stats: () => readonly string[];
  /** Instead of all lines. */
  bareStats: (() => readonly string[]) | undefined;
  /** What the next calls meet, first in first out; `always` for every one after these. */
  readonly faults: Fault[];
  always: Fault | undefined;
  /** A new process: nothing of what it was told is left. */
  readonly restart: () => void;
  /** A new process that takes over the counts of its predecessor, and nothing else. */
  readonly takeOver: () => void;
  health: "ok" | "failed";
  draining: boolean;
  readonly stop: () => Promise<void>;
};

const ADMIN_PORT = 19_000;

/** @param socketPath where it listens instead of on a port */
export async function startFakeEnvoy(socketPath = ""): Promise<FakeEnvoy> {
  const calls: string[] = [];
  const faults: Fault[] = [];
  let admin = 0;
  let asked = 0;
  let epoch = 0;
  const server = createServer((req, res) => {
    const fault = faults.shift() ?? fake.always;
    if (req.url?.startsWith("/stats")) asked += 1;
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
    asked: () => asked,
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

/** Where it is stopped, nothing else answers in its place. */
async function listening(server: Server): Promise<string> {
  const host = ownAddress();
  await new Promise<void>((done) => server.listen(ADMIN_PORT, host, done));
  return `http://${host}:${ADMIN_PORT}`;
}

/** What every Envoy tells about the question itself. */
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
  /** Of its HTTP side, which a listener without these does not have. */
  readonly http?: {
    readonly prefix: string;
    readonly requests?: number;
    readonly connections?: number;
    readonly answered?: number;
    readonly upgrades?: number;
  };
};

/** One listener with its two threads; without `http` it passes bytes on. */
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
