/**
 * Sends reviews over keep-alive TLS connections and prints the latencies as one line of JSON. Writes prepared bytes to
 * sockets, without an HTTP client, so that the client's CPU time does not limit the server.
 */
import { readFileSync } from "node:fs";
import { connect, type TLSSocket } from "node:tls";

export type LoadSettings = {
  readonly port: number;
  readonly caFile: string;
  readonly bodyFile: string;
  readonly connections: number;
  readonly requests: number;
  /** Rate of requests, independent of the responses; 0: each connection sends its next request after a response. */
  readonly perSecond: number;
};

export type LoadResult = {
  readonly answered: number;
  readonly failed: number;
  readonly seconds: number;
  /** Percentiles of the latency in milliseconds: from the time at which a request was due to its complete response. */
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
};

const settings: LoadSettings = JSON.parse(process.argv[2] ?? "{}");
const body = readFileSync(settings.bodyFile);
const requestHead = `POST /mutate HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
const requestBytes = Buffer.concat([Buffer.from(requestHead), body]);
const latenciesMs: number[] = [];
let failed = 0;
let startedRequests = 0;
const overdueMs: number[] = [];
const idleConnections: Connection[] = [];

type Connection = { readonly send: (dueMs: number) => void };

function openConnection(onResponse: (connection: Connection) => void): Promise<Connection> {
  return new Promise((resolve, reject) => {
    const ca = readFileSync(settings.caFile);
    const socket: TLSSocket = connect({ host: "127.0.0.1", port: settings.port, ca, servername: "localhost" });
    let dueMs = 0;
    let text = "";
    const connection: Connection = {
      send: (due) => {
        dueMs = due;
        socket.write(requestBytes);
      },
    };
    socket.setNoDelay(true);
    socket.setEncoding("latin1");
    socket.on("data", (chunk: string) => {
      text += chunk;
      if (text.length < responseLengthOf(text)) return;
      latenciesMs.push(performance.now() - dueMs);
      if (!text.startsWith("HTTP/1.1 200")) failed += 1;
      text = "";
      onResponse(connection);
    });
    socket.on("error", reject);
    socket.once("secureConnect", () => resolve(connection));
  });
}

function responseLengthOf(text: string): number {
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) return Number.POSITIVE_INFINITY;
  const length = /content-length: ([0-9]+)/i.exec(text.slice(0, end))?.[1];
  return end + 4 + Number(length ?? 0);
}

function sendNext(connection: Connection): void {
  if (latenciesMs.length === settings.requests) printResult();
  if (settings.perSecond > 0) {
    const dueMs = overdueMs.shift();
    if (dueMs === undefined) idleConnections.push(connection);
    else connection.send(dueMs);
  } else if (startedRequests < settings.requests) {
    startedRequests += 1;
    connection.send(performance.now());
  }
}

function startDueRequests(startMs: number): void {
  const nowMs = performance.now();
  while (startedRequests < settings.requests && startMs + (startedRequests * 1000) / settings.perSecond <= nowMs) {
    startedRequests += 1;
    const connection = idleConnections.pop();
    if (connection === undefined) overdueMs.push(nowMs);
    else connection.send(nowMs);
  }
  if (startedRequests < settings.requests) setTimeout(() => startDueRequests(startMs), 1);
}

function printResult(): void {
  const seconds = (performance.now() - startMs) / 1000;
  latenciesMs.sort((left, right) => left - right);
  const latencyAt = (share: number) =>
    latenciesMs[Math.min(latenciesMs.length - 1, Math.floor(latenciesMs.length * share))] ?? 0;
  const result: LoadResult = {
    answered: latenciesMs.length,
    failed,
    seconds,
    p50: latencyAt(0.5),
    p99: latencyAt(0.99),
    p999: latencyAt(0.999),
  };
  process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
}

const connections = await Promise.all(Array.from({ length: settings.connections }, () => openConnection(sendNext)));
const startMs = performance.now();
for (const connection of connections) sendNext(connection);
if (settings.perSecond > 0) startDueRequests(startMs);
