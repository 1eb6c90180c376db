/** Runs one Envoy, its upstream and a manager without a Pod. Like a kubelet, sends Envoy SIGTERM after the hook's response. */
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, get, type Server } from "node:http";
import { connect, createServer as createSocketServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ownAddress } from "../../leases/own-address.ts";
import type { Build } from "../../manager/builds.ts";
import { call, hookPath, type Manager, type StartOptions, startManager, TOKEN } from "../../manager/manager-process.ts";
import type { FoundProgram } from "../install/program-of.ts";
import { type AdminAddress, HTTP_PORT, type SingleEnvoy, startSingleEnvoy, TCP_PORT } from "./single-envoy.ts";

export const DELAY_MS = 2_000;
export const QUIET_MS = 1_000;

export type SinglePod = {
  readonly address: string;
  readonly envoy: SingleEnvoy;
  readonly manager: Manager;
  readonly admin: AdminAddress;
  readonly end: () => Promise<PodEnd>;
  readonly stop: () => Promise<void>;
};

export type PodEnd = {
  readonly status: number;
  readonly outcome: string;
  readonly why: string;
  readonly releasedAfterMs: number;
};

export type SinglePodParts = {
  readonly program: FoundProgram;
  readonly build: Build;
  readonly unixSocket?: boolean;
  readonly hotRestart?: boolean;
  readonly quietMs?: number;
  readonly manager?: Partial<StartOptions>;
};

export async function startSinglePod(parts: SinglePodParts): Promise<SinglePod> {
  const address = ownAddress();
  const folder = await mkdtemp(join(tmpdir(), "lastcall-envoy-"));
  const backend = await startBackend();
  const admin: AdminAddress = parts.unixSocket ? { path: join(folder, "admin.sock") } : { port: await findFreePort() };
  const envoy = await startSingleEnvoy({
    program: parts.program,
    address,
    admin,
    backendPort: portOf(backend),
    file: join(folder, "envoy.json"),
    hotRestart: parts.hotRestart ?? false,
  });
  const manager = await startManager({
    build: parts.build,
    address,
    flags: [
      `--drain-delay=${DELAY_MS}ms`,
      `--quiet-period=${parts.quietMs ?? QUIET_MS}ms`,
      "--drain-timeout=60s",
      "--driver=envoy",
      `--driver-url=${"path" in admin ? `unix:${admin.path}` : `http://127.0.0.1:${admin.port}`}`,
      "--hooks=envoy:app",
    ],
    ...parts.manager,
  });
  return {
    address,
    envoy,
    manager,
    admin,
    end: async () => {
      const startedMs = performance.now();
      const managerDrain = call(manager, `/${TOKEN}/drain`, "POST");
      const { status, body } = await call(manager, hookPath("envoy"));
      const releasedAfterMs = performance.now() - startedMs;
      envoy.kill("SIGTERM");
      await managerDrain;
      return { status, releasedAfterMs, ...JSON.parse(body) };
    },
    stop: async () => {
      manager.kill("SIGKILL");
      await manager.ended;
      await envoy.crash();
      backend.closeAllConnections();
      await new Promise((done) => backend.close(done));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Returns the Connection header of the response to a request; `kept` if the response does not have it, empty without a response. */
export function readConnectionHeader(pod: { readonly address: string }): Promise<string> {
  return new Promise((done) => {
    const headers = { connection: "keep-alive" };
    const outgoing = get(
      { host: pod.address, port: HTTP_PORT, path: "/", agent: false, headers, timeout: 5_000 },
      (res) => {
        res.resume();
        res.on("close", () => done(res.headers.connection ?? "kept"));
      },
    );
    outgoing.on("error", () => done(""));
    outgoing.on("timeout", () => outgoing.destroy());
  });
}

export function openTcpSession(pod: { readonly address: string }): Promise<Socket> {
  return new Promise((done, failed) => {
    const socket = connect({ host: pod.address, port: TCP_PORT });
    socket.once("error", failed);
    socket.once("connect", () => {
      socket.off("error", failed);
      socket.on("error", () => socket.destroy());
      done(socket);
    });
  });
}

async function startBackend(): Promise<Server> {
  const server = createServer((_, res) => res.end("done"));
  server.keepAliveTimeout = 120_000;
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return server;
}

async function findFreePort(): Promise<number> {
  const server = createSocketServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const port = portOf(server);
  await new Promise((done) => server.close(done));
  return port;
}

function portOf(server: { readonly address: Server["address"] }): number {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}
