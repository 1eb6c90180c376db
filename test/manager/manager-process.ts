/** Runs managers as child processes. Each test file leases its own loopback address, so that parallel files do not interfere. */
import { type ChildProcess, spawn } from "node:child_process";
import { createServer, get, request, type Server } from "node:http";
import { connect, type Socket } from "node:net";
import type { TestClock } from "../clock/test-clock.ts";
import { ownAddress } from "../leases/own-address.ts";
import { createChanges } from "../time/changes.ts";
import { type Build, NODE_BUILD } from "./builds.ts";

export const TOKEN = "t0ken-of-this-test";
export const PORT = 17_890;

export type ProcessResult = {
  readonly code: number | null;
  readonly ms: number;
  readonly stdout: string;
  readonly stderr: string;
};

export type Manager = {
  readonly address: string;
  readonly lines: () => readonly Record<string, unknown>[];
  readonly pid: number;
  readonly kill: (signal: NodeJS.Signals) => void;
  /** Closes the reading end of the manager's stdout. */
  readonly closeLog: () => void;
  readonly ended: Promise<ProcessResult>;
  readonly untilLogged: (matches: (line: Record<string, unknown>) => boolean) => Promise<Record<string, unknown>>;
};

export type StartOptions = {
  readonly build?: Build;
  /** Command prefix, such as `prlimit --as=…`. */
  readonly wrapper?: readonly string[];
  readonly address?: string;
  readonly env?: Record<string, string>;
  readonly flags?: readonly string[];
  /** Requires a build that runs on the test clock. */
  readonly clock?: TestClock;
  readonly onLine?: (line: Record<string, unknown>) => void;
};

const running = new Set<ChildProcess>();

export function endManagers(): void {
  for (const child of running) child.kill("SIGKILL");
}

type LaunchOptions = {
  readonly build?: Build | undefined;
  readonly wrapper?: readonly string[] | undefined;
  readonly args: readonly string[];
  readonly env?: Record<string, string> | undefined;
  readonly clock?: TestClock | undefined;
};

function launch(options: LaunchOptions): { child: ChildProcess; ended: Promise<ProcessResult> } {
  const startedMs = performance.now();
  const build = options.build ?? NODE_BUILD;
  const [command = "", ...args] = [...(options.wrapper ?? []), build.command, ...build.args, ...options.args];
  const child = spawn(command, args, {
    env: { PATH: process.env["PATH"] ?? "", LASTCALL_TOKEN: TOKEN, ...options.clock?.environment, ...options.env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.add(child);
  let stdout = "";
  let stderr = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    stdout += chunk.toString("utf8");
  });
  child.stderr?.on("data", (chunk: Buffer) => {
    stderr += chunk.toString("utf8");
  });
  const ended = new Promise<ProcessResult>((resolve) => {
    child.on("close", (code) => {
      running.delete(child);
      resolve({ code, ms: performance.now() - startedMs, stdout, stderr });
    });
  });
  options.clock?.follow(child.pid ?? 0, ended);
  return { child, ended };
}

/** Starts `serve` and waits until the manager listens or reports that it cannot listen. */
export async function startManager(options: StartOptions = {}): Promise<Manager> {
  const address = options.address ?? ownAddress();
  const flags = options.flags ?? ["--drain-delay=500ms", "--quiet-period=500ms", "--hooks=app:app"];
  const args = ["serve", `--address-scope=${address}`, ...flags];
  const { child, ended } = launch({ ...options, args });
  const lines: Record<string, unknown>[] = [];
  const changes = createChanges();
  let rest = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    const parts = (rest + chunk.toString("utf8")).split("\n");
    rest = parts.pop() ?? "";
    for (const part of parts) {
      const line: Record<string, unknown> = JSON.parse(part);
      lines.push(line);
      options.onLine?.(line);
    }
    changes.notify();
  });
  const untilLogged: Manager["untilLogged"] = (matches) => {
    const atExit = ended.then((end) => {
      const line = lines.find(matches);
      if (line === undefined) throw new Error(`the manager ended: ${JSON.stringify(end)}`);
      return line;
    });
    const logged = changes.waitFor(
      () => lines.find(matches),
      () => `a line of the manager's log, which is ${JSON.stringify(lines)}`,
    );
    return Promise.race([logged, atExit]);
  };
  await untilLogged((line) => String(line["message"]).includes("listen"));
  return {
    address,
    lines: () => lines,
    pid: child.pid ?? 0,
    kill: (signal) => child.kill(signal),
    closeLog: () => child.stdout?.destroy(),
    ended,
    untilLogged,
  };
}

export function run(
  args: readonly string[],
  env: Record<string, string> = {},
  build: Build = NODE_BUILD,
  clock?: TestClock,
): Promise<ProcessResult> {
  return launch({ build, args, env, clock }).ended;
}

export type CallResponse = {
  readonly status: number;
  readonly body: string;
  readonly ms: number;
  readonly isClosing: boolean;
};

/** Sends a request like the kubelet's. */
export function call(manager: { readonly address: string }, path: string, method = "GET"): Promise<CallResponse> {
  const startedMs = performance.now();
  return new Promise((resolve, reject) => {
    const clientRequest = request({ host: manager.address, port: PORT, path, method, agent: false }, (res) => {
      let body = "";
      res.on("data", (chunk: Buffer) => {
        body += chunk.toString("utf8");
      });
      res.on("end", () =>
        resolve({
          status: res.statusCode ?? 0,
          body,
          ms: performance.now() - startedMs,
          isClosing: res.headers.connection === "close",
        }),
      );
    });
    clientRequest.on("error", reject);
    clientRequest.end();
  });
}

export const hookPath = (container = "app") => `/${TOKEN}/prestop/${container}`;

export async function statusOf(manager: { readonly address: string }): Promise<Record<string, unknown>> {
  const response = await call(manager, `/${TOKEN}/status`);
  return JSON.parse(response.body);
}

/** Opens a TCP connection to the manager. Ignores errors, because tests provoke them. */
export function dial(manager: { readonly address: string }, port = PORT, allowHalfOpen = false): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: manager.address, port, allowHalfOpen });
    socket.on("error", reject);
    socket.on("connect", () => resolve(socket));
  });
}

export function untilClosed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.on("close", () => resolve());
    socket.resume();
  });
}

export type App = {
  readonly server: Server;
  readonly port: number;
  readonly sendSlowRequest: (ms: number) => Promise<void>;
  readonly requests: string[];
};

/** Starts an app in the Pod. `sendSlowRequest` sends the app a request of the given duration, on the test clock if there is one. */
export async function startApp(address: string, port = 8_080, clock?: TestClock): Promise<App> {
  const after = clock?.after ?? ((ms, callback) => void setTimeout(callback, ms));
  const requests: string[] = [];
  const server = createServer((req, res) => {
    requests.push(req.url ?? "");
    after(Number(new URL(`http://x${req.url}`).searchParams.get("ms") ?? "0"), () => res.end("done"));
  });
  await new Promise<void>((resolve) => server.listen(port, address, resolve));
  const sendSlowRequest = (ms: number) =>
    new Promise<void>((resolve, reject) => {
      get({ host: address, port, path: `/?ms=${ms}`, agent: false }, (res) => {
        res.resume();
        res.on("end", resolve);
      }).on("error", reject);
    });
  const serverAddress = server.address();
  return {
    server,
    port: typeof serverAddress === "object" && serverAddress !== null ? serverAddress.port : port,
    sendSlowRequest: sendSlowRequest,
    requests,
  };
}

export function endApp(app: App): Promise<void> {
  app.server.closeAllConnections();
  return new Promise((resolve) => app.server.close(() => resolve()));
}
