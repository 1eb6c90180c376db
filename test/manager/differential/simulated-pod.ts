/** Simulates a Pod on a leased address with one build of the manager, and records its responses and log. */
import { once } from "node:events";
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { PhaseName } from "../../../src/contract/drain-report.ts";
import { createTestClock, type TestClock } from "../../clock/test-clock.ts";
import { ownAddress } from "../../leases/own-address.ts";
import type { Build } from "../builds.ts";
import { dial, hookPath, type Manager, PORT, run, startManager, TOKEN } from "../manager-process.ts";
import { createRecorder, type Transcript } from "./transcript.ts";

export type SimulatedPod = {
  readonly address: string;
  /** Starts `serve` and records its log. */
  readonly serve: (flags: readonly string[], env?: Record<string, string>) => Promise<Manager>;
  /** Ends the manager by a signal and records its exit. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<void>;
  /** Sends a request and records its response or error under this name. */
  readonly send: (name: string, path: string, method?: string) => Promise<void>;
  readonly callHook: (name: string, container?: string) => Promise<void>;
  readonly requestDrain: (name: string) => Promise<void>;
  readonly requestStatus: (name: string) => Promise<void>;
  /** Runs a command of the manager and records its exit. */
  readonly runCommand: (name: string, args: readonly string[], env?: Record<string, string>) => Promise<void>;
  /** Starts an app in the Pod, which delays responses by the query parameter `ms`. */
  readonly startApp: (options?: AppOptions) => Promise<Server>;
  /** Sends the app a request of a client; ignores a failure of the request. */
  readonly visit: (path: string, port?: number) => Promise<void>;
  /** Waits for the phase and its first sample, after which both builds report the same status. */
  readonly untilPhase: (name: PhaseName) => Promise<void>;
  /** Waits until the manager has read all bytes that were sent earlier. */
  readonly untilProcessed: () => Promise<void>;
  /** Opens a TCP connection to the manager, for `hookRequest` and `drainRequest`. */
  readonly dial: () => Promise<Socket>;
  readonly hookRequest: string;
  readonly drainRequest: string;
  /** Opens a TCP connection of a client to the app. */
  readonly dialApp: () => Promise<Socket>;
  readonly record: (name: string, value: unknown) => void;
  readonly clock: TestClock;
};

export type AppOptions = {
  readonly port?: number;
  readonly host?: string;
  readonly respond?: (req: IncomingMessage, res: ServerResponse) => void;
};

/** @returns the transcript of the scenario */
export async function transcriptOf(build: Build, play: (pod: SimulatedPod) => Promise<void>): Promise<Transcript> {
  const address = ownAddress();
  const recorder = createRecorder(address);
  const clock = await createTestClock();
  const servers: Server[] = [];
  let manager: Manager | undefined;
  const record = (name: string, value: unknown) => recorder.record(name, value, clock.nowMs());
  const send: SimulatedPod["send"] = async (name, path, method = "GET") =>
    record(name, await responseOf(address, path, method));
  const requireManager = (): Manager => {
    if (manager === undefined) throw new Error("no manager has been started");
    return manager;
  };
  const untilProcessed = async () => void (await responseOf(address, `/${TOKEN}/status`, "GET"));
  const pod: SimulatedPod = {
    address,
    serve: async (flags, env = {}) => {
      manager = await startManager({
        build,
        address,
        flags,
        env,
        clock,
        onLine: (line) => recorder.recordLine(line, clock.nowMs()),
      });
      return manager;
    },
    stop: async (signal = "SIGTERM") => {
      requireManager().kill(signal);
      const end = await requireManager().ended;
      record("exit", { code: end.code, stderr: end.stderr });
    },
    send,
    callHook: (name, container = "app") => send(name, hookPath(container)),
    requestDrain: (name) => send(name, `/${TOKEN}/drain`, "POST"),
    requestStatus: (name) => send(name, `/${TOKEN}/status`),
    runCommand: async (name, args, env = {}) => {
      const { code, stdout, stderr } = await run(args, env, build, clock);
      record(name, { code, stdout: parseIfJson(stdout), stderr });
    },
    startApp: async ({ port = 8_080, host = address, respond = respondAfterDelay(clock) } = {}) => {
      const server = createServer(respond);
      servers.push(server);
      await new Promise<void>((resolve) => server.listen(port, host, resolve));
      return server;
    },
    visit: (path, port = 8_080) =>
      new Promise((resolve) => {
        const clientRequest = request({ host: address, port, path, agent: false }, (res) => res.resume());
        clientRequest.on("error", () => {});
        clientRequest.on("close", resolve);
        clientRequest.end();
      }),
    untilPhase: async (name) => {
      await requireManager().untilLogged((line) => line["message"] === "drain phase" && line["phase"] === name);
      await clock.until(async () => evidenceSourceOf(await responseOf(address, `/${TOKEN}/status`, "GET")) !== "none");
    },
    untilProcessed: untilProcessed,
    dial: () => dial({ address }),
    hookRequest: `GET ${hookPath()} HTTP/1.1\r\nHost: x\r\n\r\n`,
    drainRequest: `POST /${TOKEN}/drain HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n`,
    dialApp: () => dial({ address }, 8_080),
    record,
    clock,
  };
  /** The manager's response proves that its earlier log lines are in the pipe; its exit, that the test has read the pipe. */
  const readRemainingLog = async () => {
    if (manager === undefined) return;
    await untilProcessed();
    manager.kill("SIGKILL");
    await manager.ended;
  };
  try {
    await clock.runUntil(play(pod).then(readRemainingLog));
    return recorder.transcript();
  } finally {
    manager?.kill("SIGKILL");
    await manager?.ended;
    await clock.end();
    for (const server of servers) {
      server.closeAllConnections();
      if (server.listening) await once(server.close(), "close");
    }
  }
}

function evidenceSourceOf(response: unknown): unknown {
  return (response as { readonly body?: { readonly evidenceSource?: unknown } }).body?.evidenceSource;
}

function respondAfterDelay(clock: TestClock): (req: IncomingMessage, res: ServerResponse) => void {
  return (req, res) => {
    const ms = Number(new URL(`http://x${req.url}`).searchParams.get("ms") ?? "0");
    clock.after(ms, () => res.end("done"));
  };
}

/** @returns status, headers and body, or the error code; without the date and the length, which differ between runs */
function responseOf(host: string, path: string, method: string): Promise<unknown> {
  return new Promise((resolve) => {
    const clientRequest = request({ host, port: PORT, path, method, agent: false }, (res) => {
      let body = "";
      res.on("data", (chunk: Buffer) => {
        body += chunk.toString("utf8");
      });
      res.on("close", () => {
        const { date: _, "content-length": length, ...headers } = res.headers;
        const lengthMatches = method === "HEAD" ? length : length === String(Buffer.byteLength(body));
        resolve({
          status: res.statusCode,
          headers,
          length: lengthMatches,
          body: parseIfJson(body),
          whole: res.complete,
        });
      });
    });
    clientRequest.on("error", (error: NodeJS.ErrnoException) => resolve({ failed: error.code }));
    clientRequest.end();
  });
}

function parseIfJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
