/** A real manager as a child process, on a loopback address of its own so that test files cannot disturb each other. */
import { type ChildProcess, spawn } from "node:child_process";
import { createServer, get, request, type Server } from "node:http";
import { connect, type Socket } from "node:net";
import type { TestClock } from "../clock/test-clock.ts";
import { ownAddress } from "../leases/own-address.ts";
import { createChanges } from "../time/changes.ts";
import { type Build, NODE_BUILD } from "./builds.ts";

export const TOKEN = "t0ken-of-this-test";
export const PORT = 17_890;

export type Finished = {
  readonly code: number | null;
  readonly ms: number;
  readonly out: string;
  readonly err: string;
};

export type Manager = {
  readonly address: string;
  readonly lines: () => readonly Record<string, unknown>[];
  readonly pid: number;
  readonly kill: (signal: NodeJS.Signals) => void;
  /** Closes the other end of its standard output. */
  readonly deafen: () => void;
  readonly ended: Promise<Finished>;
  readonly until: (what: (line: Record<string, unknown>) => boolean) => Promise<Record<string, unknown>>;
};

export type Start = {
  readonly build?: Build;
  /** Words before the program, such as `prlimit --as=…`. */
  readonly wrapper?: readonly string[];
  readonly address?: string;
  readonly env?: Record<string, string>;
  readonly flags?: readonly string[];
  /** Followed by the program, whose build has to be one that can. */
  readonly clock?: TestClock;
  /** Told every line of the log when it comes. */
  readonly onLine?: (line: Record<string, unknown>) => void;
};

const running = new Set<ChildProcess>();

/** Ends whatever a failed test left. */
export function endManagers(): void {
  for (const child of running) child.kill("SIGKILL");
}

type Launch = {
  readonly build?: Build | undefined;
  readonly wrapper?: readonly string[] | undefined;
  readonly args: readonly string[];
  readonly env?: Record<string, string> | undefined;
  readonly clock?: TestClock | undefined;
};

function launch(what: Launch): { child: ChildProcess; ended: Promise<Finished> } {
  const startedMs = performance.now();
  const build = what.build ?? NODE_BUILD;
  const [command = "", ...words] = [...(what.wrapper ?? []), build.command, ...build.args, ...what.args];
  const child = spawn(command, words, {
    env: { PATH: process.env["PATH"] ?? "", LASTCALL_TOKEN: TOKEN, ...what.clock?.environment, ...what.env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.add(child);
  let out = "";
  let err = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    out += chunk.toString("utf8");
  });
  child.stderr?.on("data", (chunk: Buffer) => {
    err += chunk.toString("utf8");
  });
  const ended = new Promise<Finished>((resolve) => {
    child.on("close", (code) => {
      running.delete(child);
      resolve({ code, ms: performance.now() - startedMs, out, err });
    });
  });
  what.clock?.follow(child.pid ?? 0, ended);
  return { child, ended };
}

/** Starts `serve` and waits until it listens, or until it says that it cannot. */
export async function startManager(start: Start = {}): Promise<Manager> {
  const address = start.address ?? ownAddress();
  const flags = start.flags ?? ["--drain-delay=500ms", "--quiet-period=500ms", "--hooks=app:app"];
  const args = ["serve", `--address-scope=${address}`, ...flags];
  const { child, ended } = launch({ ...start, args });
  const lines: Record<string, unknown>[] = [];
  const changes = createChanges();
  let rest = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    const parts = (rest + chunk.toString("utf8")).split("\n");
    rest = parts.pop() ?? "";
    for (const part of parts) {
      const line: Record<string, unknown> = JSON.parse(part);
      lines.push(line);
      start.onLine?.(line);
    }
    changes.tell();
  });
  const until: Manager["until"] = (what) => {
    const atItsEnd = ended.then((end) => {
      const found = lines.find(what);
      if (found === undefined) throw new Error(`the manager ended: ${JSON.stringify(end)}`);
      return found;
    });
    const said = changes.find(
      () => lines.find(what),
      () => `a line of the manager's log, which is ${JSON.stringify(lines)}`,
    );
    return Promise.race([said, atItsEnd]);
  };
  await until((line) => String(line["message"]).includes("listen"));
  return {
    address,
    lines: () => lines,
    pid: child.pid ?? 0,
    kill: (signal) => child.kill(signal),
    deafen: () => child.stdout?.destroy(),
    ended,
    until,
  };
}

/** Runs one command of the manager to its end. */
export function run(
  args: readonly string[],
  env: Record<string, string> = {},
  build: Build = NODE_BUILD,
  clock?: TestClock,
): Promise<Finished> {
  return launch({ build, args, env, clock }).ended;
}

export type Answer = { readonly status: number; readonly body: string; readonly ms: number; readonly closes: boolean };

/** One request as the kubelet would make it. */
export function call(manager: { readonly address: string }, path: string, method = "GET"): Promise<Answer> {
  const startedMs = performance.now();
  return new Promise((resolve, reject) => {
    const sent = request({ host: manager.address, port: PORT, path, method, agent: false }, (res) => {
      let body = "";
      res.on("data", (chunk: Buffer) => {
        body += chunk.toString("utf8");
      });
      res.on("end", () =>
        resolve({
          status: res.statusCode ?? 0,
          body,
          ms: performance.now() - startedMs,
          closes: res.headers.connection === "close",
        }),
      );
    });
    sent.on("error", reject);
    sent.end();
  });
}

export const hookPath = (container = "app") => `/${TOKEN}/prestop/${container}`;

export async function statusOf(manager: { readonly address: string }): Promise<Record<string, unknown>> {
  const answer = await call(manager, `/${TOKEN}/status`);
  return JSON.parse(answer.body);
}

/** A bare connection to the manager. Errors are part of what is tried, so they only end it. */
export function dial(manager: { readonly address: string }, port = PORT, allowHalfOpen = false): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: manager.address, port, allowHalfOpen });
    socket.on("error", reject);
    socket.on("connect", () => resolve(socket));
  });
}

/** When the other side has closed the connection. How long that may take is held at virtual time. */
export function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.on("close", () => resolve());
    socket.resume();
  });
}

export type App = {
  readonly server: Server;
  readonly port: number;
  readonly slow: (ms: number) => Promise<void>;
  readonly asked: string[];
};

/** An app in the Pod; port 0 takes any. `slow` sends it a request that takes that long, by the clock where there is one. */
export async function startApp(address: string, port = 8_080, clock?: TestClock): Promise<App> {
  const after = clock?.after ?? ((ms, what) => void setTimeout(what, ms));
  const asked: string[] = [];
  const server = createServer((req, res) => {
    asked.push(req.url ?? "");
    after(Number(new URL(`http://x${req.url}`).searchParams.get("ms") ?? "0"), () => res.end("done"));
  });
  await new Promise<void>((resolve) => server.listen(port, address, resolve));
  const slow = (ms: number) =>
    new Promise<void>((resolve, reject) => {
      get({ host: address, port, path: `/?ms=${ms}`, agent: false }, (res) => {
        res.resume();
        res.on("end", resolve);
      }).on("error", reject);
    });
  const at = server.address();
  return { server, port: typeof at === "object" && at !== null ? at.port : port, slow, asked };
}

export function endApp(app: App): Promise<void> {
  app.server.closeAllConnections();
  return new Promise((resolve) => app.server.close(() => resolve()));
}
