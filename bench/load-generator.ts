/**
 * Sends reviews over keep-alive TLS connections and prints the latencies as one line of JSON. Prepared bytes on raw sockets
 * keep the client from limiting the server.
 */
import { readFileSync } from "node:fs";
import { connect, type TLSSocket } from "node:tls";

export type LoadOrder = {
  readonly port: number;
  readonly caFile: string;
  readonly bodyFile: string;
  readonly connections: number;
  readonly requests: number;
  /** Requests start at this rate whatever the server does; 0: each connection sends the next one after each answer. */
  readonly perSecond: number;
};

export type LoadResult = {
  readonly answered: number;
  readonly failed: number;
  readonly seconds: number;
  /** Milliseconds from the time a request was due to its complete answer. */
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
};

const order: LoadOrder = JSON.parse(process.argv[2] ?? "{}");
const body = readFileSync(order.bodyFile);
const head = `POST /mutate HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
const bytes = Buffer.concat([Buffer.from(head), body]);
const latencies: number[] = [];
let failed = 0;
let started = 0;
const overdueMs: number[] = [];
const free: Connection[] = [];

type Connection = { readonly send: (dueMs: number) => void };

function openConnection(onAnswer: (connection: Connection) => void): Promise<Connection> {
  return new Promise((resolve, reject) => {
    const ca = readFileSync(order.caFile);
    const socket: TLSSocket = connect({ host: "127.0.0.1", port: order.port, ca, servername: "localhost" });
    let dueMs = 0;
    let text = "";
    const connection: Connection = {
      send: (due) => {
        dueMs = due;
        socket.write(bytes);
      },
    };
    socket.setNoDelay(true);
    socket.setEncoding("latin1");
    socket.on("data", (chunk: string) => {
      text += chunk;
      if (text.length < answerLengthOf(text)) return;
      latencies.push(performance.now() - dueMs);
      if (!text.startsWith("HTTP/1.1 200")) failed += 1;
      text = "";
      onAnswer(connection);
    });
    socket.on("error", reject);
    socket.once("secureConnect", () => resolve(connection));
  });
}

function answerLengthOf(text: string): number {
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) return Number.POSITIVE_INFINITY;
  const length = /content-length: ([0-9]+)/i.exec(text.slice(0, end))?.[1];
  return end + 4 + Number(length ?? 0);
}

function next(connection: Connection): void {
  if (latencies.length === order.requests) finish();
  if (order.perSecond > 0) {
    const due = overdueMs.shift();
    if (due === undefined) free.push(connection);
    else connection.send(due);
  } else if (started < order.requests) {
    started += 1;
    connection.send(performance.now());
  }
}

function startDueRequests(startMs: number): void {
  const nowMs = performance.now();
  while (started < order.requests && startMs + (started * 1000) / order.perSecond <= nowMs) {
    started += 1;
    const connection = free.pop();
    if (connection === undefined) overdueMs.push(nowMs);
    else connection.send(nowMs);
  }
  if (started < order.requests) setTimeout(() => startDueRequests(startMs), 1);
}

function finish(): void {
  const seconds = (performance.now() - startMs) / 1000;
  latencies.sort((left, right) => left - right);
  const at = (share: number) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0;
  const result: LoadResult = {
    answered: latencies.length,
    failed,
    seconds,
    p50: at(0.5),
    p99: at(0.99),
    p999: at(0.999),
  };
  process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
}

const connections = await Promise.all(Array.from({ length: order.connections }, () => openConnection(next)));
const startMs = performance.now();
for (const connection of connections) next(connection);
if (order.perSecond > 0) startDueRequests(startMs);
