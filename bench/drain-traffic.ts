/** Generates the kinds of traffic of the drain benchmark. Each kind reports the time of its last response. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, createServer, get, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { killProcess } from "./drain-pod.ts";

export type Traffic = {
  /** Continues the traffic after the drain's trigger. @returns the time of the last response; -1 without a response */
  readonly sendDuringDrain: () => Promise<number>;
  readonly end: () => Promise<void>;
};

export type TrafficKind = { readonly name: string; readonly start: (address: string) => Promise<Traffic> };

export const TRAFFIC_KINDS: readonly TrafficKind[] = [
  { name: "no traffic", start: startWithoutTraffic },
  { name: "short requests", start: startShortRequests },
  { name: "one long request", start: startLongRequest },
  { name: "idle keep-alive", start: startIdleKeepAlive },
  { name: "busy backlog", start: startBusyBacklog },
];

const LOAD_AFTER_TRIGGER_MS = 1_300;

async function startWithoutTraffic(address: string): Promise<Traffic> {
  const server = await serve(address, (_, res) => res.end());
  return { sendDuringDrain: async () => -1, end: server.end };
}

/** Sends requests for LOAD_AFTER_TRIGGER_MS, as clients with outdated endpoints do. */
async function startShortRequests(address: string): Promise<Traffic> {
  const server = await serve(address, (_, res) => res.setHeader("connection", "close").end("short"));
  return {
    end: server.end,
    sendDuringDrain: async () => {
      const untilMs = performance.now() + LOAD_AFTER_TRIGGER_MS;
      let lastResponseMs = -1;
      while (performance.now() < untilMs) {
        lastResponseMs = await fetchOnce(address, server.port, false);
        await pause(23);
      }
      return lastResponseMs;
    },
  };
}

async function startLongRequest(address: string): Promise<Traffic> {
  const server = await serve(address, (_, res) => setTimeout(() => res.end("long"), 1_700));
  const lastResponseMs = fetchOnce(address, server.port, false);
  await pause(50);
  return { sendDuringDrain: () => lastResponseMs, end: server.end };
}

/** Sends requests on four keep-alive connections until 700 ms after the trigger, then leaves the connections idle. */
async function startIdleKeepAlive(address: string): Promise<Traffic> {
  const server = await serve(address, (_, res) => res.end("kept"));
  const agents = [1, 2, 3, 4].map(() => new Agent({ keepAlive: true, maxSockets: 1 }));
  const requestOnAllAgents = async (): Promise<number> => {
    const responseTimesMs = await Promise.all(agents.map((agent) => fetchOnce(address, server.port, agent)));
    return Math.max(...responseTimesMs);
  };
  for (let n = 0; n < 3; n += 1) {
    await requestOnAllAgents();
    await pause(220);
  }
  return {
    sendDuringDrain: async () => {
      await pause(700);
      return requestOnAllAgents();
    },
    end: async () => {
      for (const agent of agents) agent.destroy();
      await server.end();
    },
  };
}

async function startBusyBacklog(address: string): Promise<Traffic> {
  const child = spawn(process.execPath, [join(import.meta.dirname, "drain-slow-acceptor.ts"), address], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  const port = Number(line.toString());
  return {
    end: () => killProcess(child),
    sendDuringDrain: async () => {
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
  return new Promise((resolve, reject) => {
    get({ host, port, agent }, (res) => res.resume().on("end", () => resolve(performance.now()))).on("error", reject);
  });
}
