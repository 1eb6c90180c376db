/** Generates the traffic under which drains are measured. Each kind reports its last evidence by the client's clock. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, createServer, get, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { stop } from "./drain-pod.ts";

export type Traffic = {
  /** Continues the traffic from the drain's trigger on. @returns the time of the last evidence; -1 without any */
  readonly during: () => Promise<number>;
  readonly end: () => Promise<void>;
};

export type Kind = { readonly name: string; readonly start: (address: string) => Promise<Traffic> };

export const KINDS: readonly Kind[] = [
  { name: "no traffic", start: noTraffic },
  { name: "short requests", start: shortRequests },
  { name: "one long request", start: longRequest },
  { name: "idle keep-alive", start: idleKeepAlive },
  { name: "busy backlog", start: busyBacklog },
];

const LOAD_AFTER_TRIGGER_MS = 1_300;

async function noTraffic(address: string): Promise<Traffic> {
  const server = await serve(address, (_, res) => res.end());
  return { during: async () => -1, end: server.end };
}

/** Continues as long as clients with outdated endpoints would. */
async function shortRequests(address: string): Promise<Traffic> {
  const server = await serve(address, (_, res) => res.setHeader("connection", "close").end("short"));
  return {
    end: server.end,
    during: async () => {
      const untilMs = performance.now() + LOAD_AFTER_TRIGGER_MS;
      let last = -1;
      while (performance.now() < untilMs) {
        last = await fetchOnce(address, server.port, false);
        await pause(23);
      }
      return last;
    },
  };
}

async function longRequest(address: string): Promise<Traffic> {
  const server = await serve(address, (_, res) => setTimeout(() => res.end("long"), 1_700));
  const answered = fetchOnce(address, server.port, false);
  await pause(50);
  return { during: () => answered, end: server.end };
}

/** Uses a pool of keep-alive connections for a while after the trigger, then leaves them open and idle. */
async function idleKeepAlive(address: string): Promise<Traffic> {
  const server = await serve(address, (_, res) => res.end("kept"));
  const agents = [1, 2, 3, 4].map(() => new Agent({ keepAlive: true, maxSockets: 1 }));
  const useAll = async (): Promise<number> => {
    const answered = await Promise.all(agents.map((agent) => fetchOnce(address, server.port, agent)));
    return Math.max(...answered);
  };
  for (let n = 0; n < 3; n += 1) {
    await useAll();
    await pause(220);
  }
  return {
    during: async () => {
      await pause(700);
      return useAll();
    },
    end: async () => {
      for (const agent of agents) agent.destroy();
      await server.end();
    },
  };
}

async function busyBacklog(address: string): Promise<Traffic> {
  const child = spawn(process.execPath, [join(import.meta.dirname, "drain-slow-acceptor.ts"), address], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  const port = Number(line.toString());
  return {
    end: () => stop(child),
    during: async () => {
      child.stdin.write(`${LOAD_AFTER_TRIGGER_MS}\n`);
      await once(child.stdout, "data");
      const answered = await Promise.all([1, 2, 3, 4, 5].map(() => fetchOnce(address, port, false)));
      return Math.max(...answered);
    },
  };
}

type Server = { readonly port: number; readonly end: () => Promise<void> };

async function serve(address: string, handle: (req: IncomingMessage, res: ServerResponse) => void): Promise<Server> {
  const server = createServer({ keepAliveTimeout: 120_000 }, handle);
  server.listen(0, address);
  await once(server, "listening");
  const end = async (): Promise<void> => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  };
  return { port: (server.address() as AddressInfo).port, end };
}

function fetchOnce(host: string, port: number, agent: Agent | false): Promise<number> {
  return new Promise((done, failed) => {
    get({ host, port, agent }, (res) => res.resume().on("end", () => done(performance.now()))).on("error", failed);
  });
}
