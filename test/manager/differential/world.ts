/** One Pod on an address of its own, with one build of the manager in it, that writes down all that happens. */
import { once } from "node:events";
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { PhaseName } from "../../../src/contract/drain-report.ts";
import { createTestClock, type TestClock } from "../../clock/test-clock.ts";
import { ownAddress } from "../../leases/own-address.ts";
import type { Build } from "../builds.ts";
import { dial, hookPath, type Manager, PORT, run, startManager, TOKEN } from "../manager-process.ts";
import { createRecorder, type Transcript } from "./transcript.ts";

export type World = {
  readonly address: string;
  /** Starts `serve`; from then on its log is written down. The clock of the transcript starts when it listens. */
  readonly serve: (flags: readonly string[], env?: Record<string, string>) => Promise<Manager>;
  /** Ends the manager by a signal and writes down how it ended. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<void>;
  /** One request, whose answer or end is written down under this name. */
  readonly ask: (name: string, path: string, method?: string) => Promise<void>;
  readonly hook: (name: string, container?: string) => Promise<void>;
  readonly drain: (name: string) => Promise<void>;
  readonly status: (name: string) => Promise<void>;
  /** One command of the manager to its end. */
  readonly command: (name: string, args: readonly string[], env?: Record<string, string>) => Promise<void>;
  /** An app of the Pod; it keeps every request for as many milliseconds as its query `ms` says. */
  readonly app: (serving?: AppServing) => Promise<Server>;
  /** A request to the app by a client, which may fail. */
  readonly visit: (path: string, port?: number) => Promise<void>;
  /** The phase has begun and its first look at the sockets is over: a status asked for now is the same in both builds. */
  readonly phase: (name: PhaseName) => Promise<void>;
  /** The manager has read what was sent before. */
  readonly heard: () => Promise<void>;
  /** A bare connection to the manager, and the words of a hook and of a drain on it. */
  readonly dial: () => Promise<Socket>;
  readonly hookWords: string;
  readonly drainWords: string;
  /** A bare connection of a client to the app. */
  readonly dialApp: () => Promise<Socket>;
  readonly tell: (name: string, what: unknown) => void;
  readonly clock: TestClock;
};

export type AppServing = {
  readonly port?: number;
  readonly host?: string;
  readonly answers?: (req: IncomingMessage, res: ServerResponse) => void;
};

/** @returns what was written down until the scenario's end */
export async function playIn(build: Build, play: (world: World) => Promise<void>): Promise<Transcript> {
  const address = ownAddress();
  const recorder = createRecorder(address);
  const clock = await createTestClock();
  const servers: Server[] = [];
  let manager: Manager | undefined;
  const tell = (name: string, what: unknown) => recorder.tell(name, what, clock.nowMs());
  const ask: World["ask"] = async (name, path, method = "GET") => tell(name, await answerOf(address, path, method));
  const running = (): Manager => {
    if (manager === undefined) throw new Error("no manager has been started");
    return manager;
  };
  const heard = async () => void (await answerOf(address, `/${TOKEN}/status`, "GET"));
  const world: World = {
    address,
    serve: async (flags, env = {}) => {
      manager = await startManager({
        build,
        address,
        flags,
        env,
        clock,
        onLine: (line) => recorder.line(line, clock.nowMs()),
      });
      return manager;
    },
    stop: async (signal = "SIGTERM") => {
      running().kill(signal);
      const end = await running().ended;
      tell("exit", { code: end.code, err: end.err });
    },
    ask,
    hook: (name, container = "app") => ask(name, hookPath(container)),
    drain: (name) => ask(name, `/${TOKEN}/drain`, "POST"),
    status: (name) => ask(name, `/${TOKEN}/status`),
    command: async (name, args, env = {}) => {
      const { code, out, err } = await run(args, env, build, clock);
      tell(name, { code, out: parsed(out), err });
    },
    app: async ({ port = 8_080, host = address, answers = slowly(clock) } = {}) => {
      const server = createServer(answers);
      servers.push(server);
      await new Promise<void>((resolve) => server.listen(port, host, resolve));
      return server;
    },
    visit: (path, port = 8_080) =>
      new Promise((resolve) => {
        const sent = request({ host: address, port, path, agent: false }, (res) => res.resume());
        sent.on("error", () => {});
        sent.on("close", resolve);
        sent.end();
      }),
    phase: async (name) => {
      await running().until((line) => line["message"] === "drain phase" && line["phase"] === name);
      await clock.until(async () => evidenceSourceOf(await answerOf(address, `/${TOKEN}/status`, "GET")) !== "none");
    },
    heard,
    dial: () => dial({ address }),
    hookWords: `GET ${hookPath()} HTTP/1.1\r\nHost: x\r\n\r\n`,
    drainWords: `POST /${TOKEN}/drain HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n`,
    dialApp: () => dial({ address }, 8_080),
    tell,
    clock,
  };
  /** What was logged before this call was answered is in the pipe, and the pipe is read whole when its writer is gone. */
  const readToTheEnd = async () => {
    if (manager === undefined) return;
    await heard();
    manager.kill("SIGKILL");
    await manager.ended;
  };
  try {
    await clock.runUntil(play(world).then(readToTheEnd));
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

function evidenceSourceOf(answer: unknown): unknown {
  return (answer as { readonly body?: { readonly evidenceSource?: unknown } }).body?.evidenceSource;
}

function slowly(clock: TestClock): (req: IncomingMessage, res: ServerResponse) => void {
  return (req, res) => {
    const ms = Number(new URL(`http://x${req.url}`).searchParams.get("ms") ?? "0");
    clock.after(ms, () => res.end("done"));
  };
}

/** Status, headers and body, or how it ended instead. The date may differ, and the length with the digits of a time. */
function answerOf(host: string, path: string, method: string): Promise<unknown> {
  return new Promise((resolve) => {
    const sent = request({ host, port: PORT, path, method, agent: false }, (res) => {
      let body = "";
      res.on("data", (chunk: Buffer) => {
        body += chunk.toString("utf8");
      });
      res.on("close", () => {
        const { date: _, "content-length": length, ...headers } = res.headers;
        const fits = method === "HEAD" ? length : length === String(Buffer.byteLength(body));
        resolve({ status: res.statusCode, headers, length: fits, body: parsed(body), whole: res.complete });
      });
    });
    sent.on("error", (error: NodeJS.ErrnoException) => resolve({ failed: error.code }));
    sent.end();
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
