/** Runs the webhook as a process on a free port, and collects its output. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Agent, request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { WEBHOOK_FLAGS } from "../../e2e/images/image-table.ts";
import { eventually } from "../time/eventually.ts";

const PROGRAM = join(import.meta.dirname, "../../src/lastcall.ts");

export type ProcessEnd = { readonly status: number | null; readonly output: string };

export type RunningWebhook = {
  readonly port: number;
  readonly pid: number;
  readonly ca: string;
  readonly output: () => string;
  readonly signal: (signal: NodeJS.Signals) => void;
  readonly ended: Promise<ProcessEnd>;
  /** Kills the process; for the cleanup of a test. */
  readonly destroy: () => Promise<void>;
};

export function spawnWebhook(args: readonly string[]): {
  child: ChildProcess;
  output: () => string;
  ended: Promise<ProcessEnd>;
} {
  const processArgs = [...WEBHOOK_FLAGS, PROGRAM, "webhook", ...args];
  const child = spawn(process.execPath, processArgs, { stdio: ["ignore", "pipe", "pipe"] });
  const texts: string[] = [];
  child.stdout?.on("data", (chunk: Buffer) => texts.push(chunk.toString()));
  child.stderr?.on("data", (chunk: Buffer) => texts.push(chunk.toString()));
  const output = () => texts.join("");
  const ended = once(child, "close").then(([status]) => ({
    status: typeof status === "number" ? status : null,
    output: output(),
  }));
  return { child, output, ended };
}

/** Appends `args` to `--port=0`. Without `ownCa` the webhook creates a CA when it starts, and the result contains this CA. */
export async function startWebhook(args: readonly string[] = [], ownCa?: string): Promise<RunningWebhook> {
  const folder = mkdtempSync(join(tmpdir(), "lastcall-webhook-"));
  const caFile = join(folder, "ca.pem");
  const caFlags = ownCa === undefined ? ["--ca-file", caFile] : [];
  const { child, output, ended } = spawnWebhook(["--port=0", "--host=127.0.0.1", ...caFlags, ...args]);
  const destroy = async () => {
    child.kill("SIGKILL");
    await ended;
  };
  try {
    const port = await Promise.race([readPort(output), rejectOnExit(ended)]);
    const ca = ownCa ?? readFileSync(caFile, "utf8");
    return { port, pid: child.pid ?? 0, ca, output, signal: (name) => child.kill(name), ended, destroy };
  } catch (error) {
    await destroy();
    throw error;
  } finally {
    // The webhook writes the CA before it opens the port, so the folder is no longer needed.
    rmSync(folder, { recursive: true, force: true });
  }
}

function readPort(output: () => string): Promise<number> {
  return eventually(() => {
    const [, port] = /"port":([0-9]+).*"msg":"listening"/.exec(output()) ?? [];
    if (port === undefined) throw new Error(`the webhook did not start: ${output()}`);
    return Number(port);
  });
}

async function rejectOnExit(ended: Promise<ProcessEnd>): Promise<never> {
  const { output } = await ended;
  throw new Error(`the webhook ended before it listened: ${output}`);
}

export type Reply = { readonly status: number; readonly body: string; readonly connection: string };

export type RequestOptions = { readonly path: string; readonly body?: string; readonly agent?: Agent };

/** Sends one request and verifies the server by its CA; rejects with the socket's error. */
export function sendRequest(webhook: RunningWebhook, { path, body, agent }: RequestOptions): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const headers =
      body === undefined ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    const method = body === undefined ? "GET" : "POST";
    const serverOptions = { host: "127.0.0.1", port: webhook.port, ca: webhook.ca, servername: "localhost" };
    const clientRequest = request({ ...serverOptions, path, method, headers, agent: agent ?? false }, (reply) => {
      let text = "";
      reply.setEncoding("utf8");
      reply.on("data", (chunk: string) => {
        text += chunk;
      });
      reply.on("end", () => {
        resolve({ status: reply.statusCode ?? 0, body: text, connection: reply.headers.connection ?? "" });
      });
      reply.on("error", reject);
    });
    clientRequest.on("error", reject);
    clientRequest.end(body);
  });
}

export function createKeepAliveAgent(socketLimit: number): Agent {
  return new Agent({ keepAlive: true, maxSockets: socketLimit });
}
