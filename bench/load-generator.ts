/**
 * Asks a server over kept TLS connections and writes what it saw as one line of JSON. A process of its own, with
 * prepared bytes on raw sockets, so that the server and not the client is what is measured.
 */
import { readFileSync } from "node:fs";
import { connect, type TLSSocket } from "node:tls";

export type LoadOrder = {
  readonly port: number;
  readonly caFile: string;
  readonly bodyFile: string;
  readonly connections: number;
  readonly requests: number;
  /** Requests begin at this rate whatever the server does; 0: each connection asks again as soon as it is answered. */
  readonly perSecond: number;
};

export type LoadResult = {
  readonly answered: number;
  readonly failed: number;
  readonly seconds: number;
  /** Milliseconds from the moment a request was due to its complete answer. */
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
let begun = 0;
const waiting: number[] = [];
const free: Connection[] = [];

type Connection = { readonly ask: (dueMs: number) => void };

function openConnection(onAnswer: (connection: Connection) => void): Promise<Connection> {
  return new Promise((resolve, reject) => {
    const ca = readFileSync(order.caFile);
    const socket: TLSSocket = connect({ host: "127.0.0.1", port: order.port, ca, servername: "localhost" });
    let dueMs = 0;
    let text = "";
    const connection: Connection = {
      ask: (due) => {
        dueMs = due;
        socket.write(bytes);
      },
    };
    socket.setNoDelay(true);
    socket.setEncoding("latin1");
    socket.on("data", (chunk: string) => {
      text += chunk;
      if (text.length < lengthOf(text)) return;
      latencies.push(performance.now() - dueMs);
      if (!text.startsWith("HTTP/1.1 200")) failed += 1;
      text = "";
      onAnswer(connection);
    });
    socket.on("error", reject);
    socket.once("secureConnect", () => resolve(connection));
  });
}

/** Of the whole answer; infinite while its head is not complete. */
function lengthOf(text: string): number {
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) return Number.POSITIVE_INFINITY;
  const length = /content-length: ([0-9]+)/i.exec(text.slice(0, end))?.[1];
  return end + 4 + Number(length ?? 0);
}

function next(connection: Connection): void {
  if (latencies.length === order.requests) finish();
  if (order.perSecond > 0) {
    const due = waiting.shift();
    if (due === undefined) free.push(connection);
    else connection.ask(due);
  } else if (begun < order.requests) {
    begun += 1;
    connection.ask(performance.now());
  }
}

function beginDue(startMs: number): void {
  const nowMs = performance.now();
  while (begun < order.requests && startMs + (begun * 1000) / order.perSecond <= nowMs) {
    begun += 1;
    const connection = free.pop();
    if (connection === undefined) waiting.push(nowMs);
    else connection.ask(nowMs);
  }
  if (begun < order.requests) setTimeout(() => beginDue(startMs), 1);
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
if (order.perSecond > 0) beginDue(startMs);
