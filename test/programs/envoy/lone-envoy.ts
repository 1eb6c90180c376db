/** One Envoy as a process that can be killed and started again: HTTP and TCP, and an admin interface where a case wants it. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { pause } from "../../time/pause.ts";
import type { FoundProgram } from "../install/program-of.ts";
import { clusterOf, filter, httpFilter, tcpAt } from "./envoy-parts.ts";

export const LONE_HTTP_PORT = 8_080;
export const LONE_TCP_PORT = 8_081;

/** Of a port on 127.0.0.1, or of a Unix socket. */
export type AdminPlace = { readonly port: number } | { readonly path: string };

export type LoneEnvoyParts = {
  readonly program: FoundProgram;
  readonly address: string;
  readonly admin: AdminPlace;
  readonly backendPort: number;
  readonly file: string;
  /** It can be taken over from; takes an admin interface on a port. */
  readonly hotRestart?: boolean;
};

export type LoneEnvoy = {
  readonly kill: (signal: NodeJS.Signals) => void;
  /** Kills it without a word and waits until it has gone. */
  readonly crash: () => Promise<void>;
  /** Once it has gone: starts a new one and waits until that is ready. */
  readonly startAgain: () => Promise<void>;
  /** A hot restart: a new one takes over sockets and counts. Waits until the old one has left. */
  readonly takeOver: () => Promise<void>;
};

/** More than any start takes on a busy machine. */
const START_LIMIT_MS = 60_000;

/** @throws where it ends, or is not ready within a minute */
export async function startLoneEnvoy(parts: LoneEnvoyParts): Promise<LoneEnvoy> {
  await writeFile(parts.file, JSON.stringify(configOf(parts)));
  let epoch = 0;
  let envoy = launch(parts, epoch);
  await ready(envoy, parts.admin);
  return {
    kill: (signal) => envoy.kill(signal),
    crash: async () => {
      envoy.kill("SIGKILL");
      if (!hasEnded(envoy)) await once(envoy, "exit");
      if (parts.hotRestart) await rm(`/dev/shm/envoy_shared_memory_${baseIdOf(parts)}0`, { force: true });
    },
    startAgain: async () => {
      epoch = 0;
      envoy = launch(parts, epoch);
      await ready(envoy, parts.admin);
    },
    takeOver: async () => {
      const old = envoy;
      epoch += 1;
      envoy = launch(parts, epoch);
      if (!hasEnded(old)) await once(old, "exit");
      await ready(envoy, parts.admin);
    },
  };
}

/** How long an Envoy that was taken over from still serves, in seconds. */
const PARENT_SECONDS = 3;

function baseIdOf({ admin }: LoneEnvoyParts): number {
  return "port" in admin ? admin.port : 0;
}

function restartFlags(parts: LoneEnvoyParts, epoch: number): readonly string[] {
  if (!parts.hotRestart) return ["--disable-hot-restart"];
  const numbers = {
    "--base-id": baseIdOf(parts),
    "--restart-epoch": epoch,
    "--parent-shutdown-time-s": PARENT_SECONDS,
  };
  return Object.entries(numbers).flatMap(([flag, number]) => [flag, String(number)]);
}

function launch(parts: LoneEnvoyParts, epoch: number): ChildProcess {
  const { program, file } = parts;
  const [command = "", ...words] = program.command;
  const flags = ["-c", file, "--concurrency", "2", "--drain-strategy", "immediate", "--drain-time-s", "60"];
  const envoy = spawn(command, [...words, ...flags, ...restartFlags(parts, epoch), "--log-level", "error"], {
    env: { PATH: process.env["PATH"] ?? "", ...program.environment },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const leave = () => envoy.kill("SIGKILL");
  process.once("exit", leave);
  envoy.once("exit", () => process.off("exit", leave));
  return envoy;
}

function hasEnded(envoy: ChildProcess): boolean {
  return envoy.exitCode !== null || envoy.signalCode !== null;
}

async function ready(envoy: ChildProcess, admin: AdminPlace): Promise<void> {
  const untilMs = performance.now() + START_LIMIT_MS;
  // One that was told to drain as soon as it was there is never `LIVE`.
  while (!/^(LIVE|DRAINING)/.test(await stateAt(admin))) {
    if (hasEnded(envoy)) throw new Error(`Envoy ended: status ${envoy.exitCode}, signal ${envoy.signalCode}`);
    if (performance.now() > untilMs) throw new Error(`Envoy was not ready within ${START_LIMIT_MS} ms`);
    await pause(50, "a step of the scene");
  }
}

/** As the process says it, such as `INITIALIZING`; empty where no one answers. */
function stateAt(admin: AdminPlace): Promise<string> {
  const place = "path" in admin ? { socketPath: admin.path } : { host: "127.0.0.1", port: admin.port };
  return new Promise((done) => {
    const sent = request({ ...place, path: "/ready", agent: false, timeout: 2_000 }, (res) => {
      let state = "";
      res.on("data", (chunk: Buffer) => {
        state += chunk.toString("latin1");
      });
      res.on("close", () => done(state));
    });
    sent.on("error", () => done(""));
    sent.on("timeout", () => sent.destroy());
    sent.end();
  });
}

function configOf({ address, admin, backendPort }: LoneEnvoyParts): object {
  const routes = [{ match: { prefix: "/" }, route: { cluster: "app", timeout: "0s" } }];
  const http = httpFilter({ prefix: "web", codec: "AUTO" }, routes);
  const tcp = filter("tcp_proxy", "tcp_proxy.v3.TcpProxy", { stat_prefix: "raw", cluster: "app" });
  return {
    admin: { address: "path" in admin ? { pipe: { path: admin.path } } : tcpAt("127.0.0.1", admin.port) },
    static_resources: {
      listeners: [
        { name: "web", address: tcpAt(address, LONE_HTTP_PORT), filter_chains: [{ filters: [http] }] },
        { name: "raw", address: tcpAt(address, LONE_TCP_PORT), filter_chains: [{ filters: [tcp] }] },
      ],
      clusters: [clusterOf("app", tcpAt("127.0.0.1", backendPort))],
    },
  };
}
