/** Runs one Envoy as a process that a case can kill and restart, with an HTTP, a TCP and an admin listener. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { pause } from "../../time/pause.ts";
import type { FoundProgram } from "../install/program-of.ts";
import { buildCluster, filter, httpFilter, tcpAt } from "./envoy-parts.ts";

export const HTTP_PORT = 8_080;
export const TCP_PORT = 8_081;

export type AdminAddress = { readonly port: number } | { readonly path: string };

export type SingleEnvoyParts = {
  readonly program: FoundProgram;
  readonly address: string;
  readonly admin: AdminAddress;
  readonly backendPort: number;
  readonly file: string;
  /** Enables hot restarts; needs an admin interface on a port. */
  readonly hotRestart?: boolean;
};

export type SingleEnvoy = {
  readonly kill: (signal: NodeJS.Signals) => void;
  readonly crash: () => Promise<void>;
  readonly restart: () => Promise<void>;
  /** Starts a process that takes over sockets and counters. Resolves after the old process has exited and the new process is ready. */
  readonly hotRestart: () => Promise<void>;
};

const START_LIMIT_MS = 60_000;

export async function startSingleEnvoy(parts: SingleEnvoyParts): Promise<SingleEnvoy> {
  await writeFile(parts.file, JSON.stringify(buildConfig(parts)));
  let epoch = 0;
  let envoy = launch(parts, epoch);
  await waitUntilReady(envoy, parts.admin);
  return {
    kill: (signal) => envoy.kill(signal),
    crash: async () => {
      envoy.kill("SIGKILL");
      if (!hasEnded(envoy)) await once(envoy, "exit");
      if (parts.hotRestart) await rm(`/dev/shm/envoy_shared_memory_${baseId(parts)}0`, { force: true });
    },
    restart: async () => {
      epoch = 0;
      envoy = launch(parts, epoch);
      await waitUntilReady(envoy, parts.admin);
    },
    hotRestart: async () => {
      const previousEnvoy = envoy;
      epoch += 1;
      envoy = launch(parts, epoch);
      if (!hasEnded(previousEnvoy)) await once(previousEnvoy, "exit");
      await waitUntilReady(envoy, parts.admin);
    },
  };
}

/** Envoy's `--parent-shutdown-time-s`: how long the old process of a hot restart continues to serve. */
const PARENT_SHUTDOWN_SECONDS = 3;

function baseId({ admin }: SingleEnvoyParts): number {
  return "port" in admin ? admin.port : 0;
}

function restartFlags(parts: SingleEnvoyParts, epoch: number): readonly string[] {
  if (!parts.hotRestart) return ["--disable-hot-restart"];
  const flagValues = {
    "--base-id": baseId(parts),
    "--restart-epoch": epoch,
    "--parent-shutdown-time-s": PARENT_SHUTDOWN_SECONDS,
  };
  return Object.entries(flagValues).flatMap(([flag, number]) => [flag, String(number)]);
}

function launch(parts: SingleEnvoyParts, epoch: number): ChildProcess {
  const { program, file } = parts;
  const [command = "", ...args] = program.command;
  const flags = ["-c", file, "--concurrency", "2", "--drain-strategy", "immediate", "--drain-time-s", "60"];
  const envoy = spawn(command, [...args, ...flags, ...restartFlags(parts, epoch), "--log-level", "error"], {
    env: { PATH: process.env["PATH"] ?? "", ...program.environment },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const kill = () => envoy.kill("SIGKILL");
  process.once("exit", kill);
  envoy.once("exit", () => process.off("exit", kill));
  return envoy;
}

function hasEnded(envoy: ChildProcess): boolean {
  return envoy.exitCode !== null || envoy.signalCode !== null;
}

async function waitUntilReady(envoy: ChildProcess, admin: AdminAddress): Promise<void> {
  const untilMs = performance.now() + START_LIMIT_MS;
  // Envoy is never in state `LIVE` if the manager starts Envoy's drain right after Envoy's start.
  while (!/^(LIVE|DRAINING)/.test(await readState(admin))) {
    if (hasEnded(envoy))
      throw new Error(`Envoy exited before it was ready: status ${envoy.exitCode}, signal ${envoy.signalCode}`);
    if (performance.now() > untilMs) throw new Error(`Envoy was not ready within ${START_LIMIT_MS} ms`);
    await pause(50, "a step of the scenario");
  }
}

/** Reads Envoy's state, such as `INITIALIZING`, from `/ready`; empty without a response. */
function readState(admin: AdminAddress): Promise<string> {
  const adminOptions = "path" in admin ? { socketPath: admin.path } : { host: "127.0.0.1", port: admin.port };
  return new Promise((done) => {
    const outgoing = request({ ...adminOptions, path: "/ready", agent: false, timeout: 2_000 }, (res) => {
      let state = "";
      res.on("data", (chunk: Buffer) => {
        state += chunk.toString("latin1");
      });
      res.on("close", () => done(state));
    });
    outgoing.on("error", () => done(""));
    outgoing.on("timeout", () => outgoing.destroy());
    outgoing.end();
  });
}

function buildConfig({ address, admin, backendPort }: SingleEnvoyParts): object {
  const routes = [{ match: { prefix: "/" }, route: { cluster: "app", timeout: "0s" } }];
  const http = httpFilter({ prefix: "web", codec: "AUTO" }, routes);
  const tcp = filter("tcp_proxy", "tcp_proxy.v3.TcpProxy", { stat_prefix: "raw", cluster: "app" });
  return {
    admin: { address: "path" in admin ? { pipe: { path: admin.path } } : tcpAt("127.0.0.1", admin.port) },
    static_resources: {
      listeners: [
        { name: "web", address: tcpAt(address, HTTP_PORT), filter_chains: [{ filters: [http] }] },
        { name: "raw", address: tcpAt(address, TCP_PORT), filter_chains: [{ filters: [tcp] }] },
      ],
      clusters: [buildCluster("app", tcpAt("127.0.0.1", backendPort))],
    },
  };
}
