/**
 * A process of its own that sends ordinary reviews at a steady rate, most of them on kept connections and each fifth on a
 * new one, and then says in one line how long they waited.
 */
import { readFileSync } from "node:fs";
import { Agent, request } from "node:https";

export type AskOrder = {
  readonly port: number;
  readonly caFile: string;
  readonly bodyFile: string;
  readonly perSecond: number;
  readonly seconds: number;
};

export type AskResult = {
  readonly answered: number;
  readonly failures: readonly string[];
  /** Milliseconds from the moment a request was due to its complete answer. */
  readonly medianMs: number;
  readonly worstMs: number;
};

const NEW_CONNECTION_EVERY = 5;
/** As the chart tells the API server. */
const TIMEOUT_MS = 5_000;

const order: AskOrder = JSON.parse(process.argv[2] ?? "{}");
const body = readFileSync(order.bodyFile);
const ca = readFileSync(order.caFile);
const kept = new Agent({ keepAlive: true, maxSockets: 4 });
const waits: number[] = [];
const failures: string[] = [];

function ask(index: number): Promise<void> {
  const dueMs = performance.now();
  const headers = { "content-type": "application/json", "content-length": body.length };
  const agent = index % NEW_CONNECTION_EVERY === 0 ? false : kept;
  const where = { host: "127.0.0.1", port: order.port, ca, servername: "localhost", path: "/mutate", method: "POST" };
  return new Promise((resolve) => {
    const failed = (why: string): void => {
      failures.push(why);
      resolve();
    };
    const sent = request({ ...where, headers, agent, timeout: TIMEOUT_MS }, (reply) => {
      reply.resume();
      reply.once("error", (error) => failed(String(error)));
      reply.once("end", () => {
        if (reply.statusCode !== 200) return failed(`status ${reply.statusCode}`);
        waits.push(performance.now() - dueMs);
        resolve();
      });
    });
    sent.once("timeout", () => sent.destroy(new Error("timeout")));
    sent.once("error", (error) => failed(error.message));
    sent.end(body);
  });
}

const asked: Promise<void>[] = [];
const times = order.perSecond * order.seconds;
const clock = setInterval(() => {
  asked.push(ask(asked.length));
  if (asked.length < times) return;
  clearInterval(clock);
  void Promise.all(asked).then(() => {
    waits.sort((left, right) => left - right);
    const medianMs = waits[Math.floor(waits.length / 2)] ?? Number.POSITIVE_INFINITY;
    const result: AskResult = { answered: waits.length, failures, medianMs, worstMs: waits.at(-1) ?? 0 };
    process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
  });
}, 1_000 / order.perSecond);
