/** A Pod of a real Envoy and a real manager, ended as the kubelet ends it: SIGTERM to Envoy when its hook is answered. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { createServer as createSocketServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Build } from "../../manager/builds.ts";
import { call, hookPath, ownAddress, pause, startManager, statusOf, TOKEN } from "../../manager/manager-process.ts";
import type { FoundProgram } from "../install/program-of.ts";
import { envoyConfig } from "./envoy-config.ts";

export const DELAY_MS = 2_000;
export const QUIET_MS = 1_000;

export type Ended = {
  readonly outcome: string;
  readonly why: string;
  /** From the trigger to the answer of Envoy's hook, and its status. */
  readonly releasedAfterMs: number;
  readonly releasedAtMs: number;
  readonly status: number;
};

export type EnvoyPod = {
  readonly address: string;
  readonly backendPort: number;
  readonly end: () => Promise<Ended>;
  readonly stop: () => Promise<void>;
};

export type EnvoyPodParts = {
  readonly program: FoundProgram;
  readonly build: Build;
  readonly strategy?: "immediate" | "gradual";
  readonly timeoutMs?: number;
  readonly fewStatistics?: boolean;
};

export async function startEnvoyPod(parts: EnvoyPodParts): Promise<EnvoyPod> {
  const address = ownAddress();
  const adminPort = await freePort();
  const backend = await startBackend();
  const folder = await mkdtemp(join(tmpdir(), "lastcall-envoy-"));
  const config = join(folder, "envoy.json");
  await writeFile(
    config,
    JSON.stringify(
      envoyConfig({ address, adminPort, backendPort: backend.port, fewStatistics: parts.fewStatistics ?? false }),
    ),
  );
  const envoy = startEnvoy(parts, config);
  await ready(envoy, adminPort);
  const manager = await startManager({
    build: parts.build,
    address,
    flags: [
      `--drain-delay=${DELAY_MS}ms`,
      `--quiet-period=${QUIET_MS}ms`,
      `--drain-timeout=${parts.timeoutMs ?? 20_000}ms`,
      "--driver=envoy",
      `--driver-url=http://127.0.0.1:${adminPort}`,
      "--hooks=envoy:app",
    ],
  });
  return {
    address,
    backendPort: backend.port,
    end: async () => {
      const startedMs = performance.now();
      const own = call(manager, `/${TOKEN}/drain`, "POST");
      const { status } = await call(manager, hookPath("envoy"));
      const releasedAtMs = performance.now();
      envoy.kill("SIGTERM");
      await own;
      const report = await statusOf(manager);
      const words = { outcome: String(report["outcome"]), why: String(report["why"]) };
      return { ...words, status, releasedAtMs, releasedAfterMs: releasedAtMs - startedMs };
    },
    stop: async () => {
      manager.kill("SIGKILL");
      await manager.ended;
      await killed(envoy);
      backend.server.closeAllConnections();
      await new Promise((done) => backend.server.close(done));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function startEnvoy({ program, strategy = "immediate" }: EnvoyPodParts, config: string): ChildProcess {
  const [command = "", ...words] = program.command;
  const flags = ["-c", config, "--concurrency", "2", "--drain-strategy", strategy, "--drain-time-s", "60"];
  const envoy = spawn(command, [...words, ...flags, "--disable-hot-restart", "--log-level", "error"], {
    env: { PATH: process.env["PATH"] ?? "", ...program.environment },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const leave = () => envoy.kill("SIGKILL");
  process.once("exit", leave);
  envoy.once("exit", () => process.off("exit", leave));
  return envoy;
}

async function killed(envoy: ChildProcess): Promise<void> {
  envoy.kill("SIGKILL");
  if (envoy.exitCode === null && envoy.signalCode === null) await once(envoy, "exit");
}

async function ready(envoy: ChildProcess, adminPort: number): Promise<void> {
  for (;;) {
    if (envoy.exitCode !== null) throw new Error(`Envoy ended with status ${envoy.exitCode}`);
    const answer = await fetch(`http://127.0.0.1:${adminPort}/ready`).catch(() => undefined);
    if (answer?.status === 200) return;
    await pause(50);
  }
}

/** Answers at once, or after `/MILLISECONDS`; echoes on upgraded connections. */
async function startBackend(): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer((req, res) => {
    setTimeout(() => res.end("done"), Number(req.url?.slice(1) ?? "0"));
  });
  server.on("upgrade", (_, socket) => {
    socket.on("error", () => socket.destroy());
    socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n");
    socket.pipe(socket);
  });
  server.keepAliveTimeout = 120_000;
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return { server, port: portOf(server.address()) };
}

async function freePort(): Promise<number> {
  const server = createSocketServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const port = portOf(server.address());
  await new Promise((done) => server.close(done));
  return port;
}

function portOf(address: ReturnType<Server["address"]>): number {
  return typeof address === "object" && address !== null ? address.port : 0;
}
