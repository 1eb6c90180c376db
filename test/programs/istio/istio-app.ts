/**
 * Runs an app in a mesh. It serves HTTP and makes outbound calls from the start of its proxy until it exits, two seconds after
 * its stop signal: HTTP requests on one keep-alive connection to a service for which the proxy has a listener, and TCP echo
 * requests on new connections, which the proxy forwards unchanged. Its last line of output contains the counts of its calls.
 */
import { Agent, createServer, get } from "node:http";
import { connect } from "node:net";
import { UPSTREAM_PORTS } from "../envoy/upstream-ports.ts";
import { canConnect } from "../harness/until.ts";
import { APP_PORT } from "./istio-ports.ts";

const host = process.env["UPSTREAM"] ?? "";
const CALL_EVERY_MS = 50;
const ECHO_EVERY_MS = 250;
const LIMIT_MS = 5_000;
const EXIT_DELAY_MS = 2_000;

export type CallCounts = {
  answered: number;
  failures: string[];
  /** Responses with `Connection: close`. */
  closeHeaders: number;
  /** Responses with `Server: envoy`. */
  byProxy: number;
  afterSignal: number;
};

const calls: CallCounts = { answered: 0, failures: [], closeHeaders: 0, byProxy: 0, afterSignal: 0 };
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
let isTerminating = false;

function countResponse(): void {
  calls.answered += 1;
  if (isTerminating) calls.afterSignal += 1;
}

function call(): Promise<void> {
  return new Promise((done) => {
    const fail = (error: Error) => {
      calls.failures.push(`call: ${error.message}`);
      done();
    };
    const outgoing = get({ agent, host, port: UPSTREAM_PORTS.http1, path: "/5", timeout: LIMIT_MS }, (res) => {
      if (res.headers.connection === "close") calls.closeHeaders += 1;
      if (res.headers["server"] === "envoy") calls.byProxy += 1;
      res.resume().on("error", fail);
      res.on("end", () => {
        if (res.statusCode === 200) countResponse();
        else calls.failures.push(`call: status ${res.statusCode}`);
        done();
      });
    });
    outgoing.on("timeout", () => outgoing.destroy(new Error("no response")));
    outgoing.on("error", fail);
  });
}

function echo(): Promise<void> {
  return new Promise((done) => {
    const socket = connect({ host, port: UPSTREAM_PORTS.tcp, timeout: LIMIT_MS });
    let hasResponse = false;
    socket.on("connect", () => socket.write("hello"));
    socket.on("data", () => {
      hasResponse = true;
      countResponse();
      socket.destroy();
    });
    socket.on("timeout", () => socket.destroy());
    socket.on("error", () => socket.destroy());
    socket.on("close", () => {
      if (!hasResponse) calls.failures.push("echo: closed without a response");
      done();
    });
  });
}

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

let isEnded = false;

/** A proxy in a regular container may start after the app. Calls before its start would fail; the cases do not test such calls. */
async function waitForProxy(): Promise<void> {
  while (!isEnded && !(await canConnect(host, UPSTREAM_PORTS.http1))) await pause(CALL_EVERY_MS);
}

const proxyReady = waitForProxy();
const loops = [
  [call, CALL_EVERY_MS],
  [echo, ECHO_EVERY_MS],
] as const;
const loopEnds = loops.map(async ([send, everyMs]) => {
  await proxyReady;
  while (!isEnded) {
    await send();
    await pause(everyMs);
  }
});

const server = createServer((req, res) => {
  setTimeout(() => res.end("done"), Number(req.url?.slice(1) ?? "0"));
});
server.keepAliveTimeout = 600_000;
server.listen(APP_PORT, "0.0.0.0", () => process.stdout.write("listening\n"));

process.once("SIGTERM", async () => {
  isTerminating = true;
  server.close();
  server.closeIdleConnections();
  await pause(EXIT_DELAY_MS);
  isEnded = true;
  await Promise.all(loopEnds);
  process.stdout.write(`${JSON.stringify(calls)}\n`, () => process.exit(0));
});
