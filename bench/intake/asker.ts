/**
 * A process of its own that calls the webhook as an API server and a kubelet do, at a steady rate: reviews on new connections
 * and on kept ones, and probes. Prints in one line how long each took.
 */
import { readFileSync } from "node:fs";
import { Agent, request } from "node:https";

export type AskOrder = {
  readonly port: number;
  readonly caFile: string;
  readonly bodyFile: string;
  /** Shown with reviews; empty: none. Probes have none. */
  readonly clientFile: string;
  readonly seconds: number;
};

/** Calls a second: 120 on new connections, 500 on kept ones and 20 probes in 20 s. */
export const RATES = { new: 6, kept: 25, probe: 1 } as const;
export type CallKind = keyof typeof RATES;

export type Answered = {
  readonly asked: number;
  /** Milliseconds from the start of a call to its complete answer, sorted. */
  readonly waitsMs: readonly number[];
  readonly failures: readonly string[];
};
export type AskResult = Readonly<Record<CallKind, Answered>>;

/** Of the webhook configuration, and longer than a kubelet's: no call may take longer. */
const TIMEOUT_MS = 5_000;

const order: AskOrder = JSON.parse(process.argv[2] ?? "{}");
const body = readFileSync(order.bodyFile);
const client = order.clientFile === "" ? {} : JSON.parse(readFileSync(order.clientFile, "utf8"));
const where = { host: "127.0.0.1", port: order.port, ca: readFileSync(order.caFile), servername: "localhost" };
/** As an API server: any number at a time, and 25 of them kept. */
const kept = new Agent({ keepAlive: true, maxFreeSockets: 25 });

const REVIEW = {
  path: "/mutate",
  method: "POST",
  headers: { "content-type": "application/json", "content-length": body.length },
  ...client,
};
const CALLS = {
  new: { ...REVIEW, agent: false },
  kept: { ...REVIEW, agent: kept },
  probe: { path: "/readyz", method: "GET", headers: {}, agent: false },
} as const;

/** @returns milliseconds. @throws with the failure */
function call(kind: CallKind): Promise<number> {
  const startedMs = performance.now();
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const sent = request({ ...where, ...CALLS[kind] }, (reply) => {
    reply.resume();
    reply.once("error", reject);
    reply.once("end", () => {
      if (reply.statusCode === 200) resolve(performance.now() - startedMs);
      else reject(new Error(`status ${reply.statusCode}`));
    });
  });
  // The whole call, not only the silence within it.
  const limit = setTimeout(() => sent.destroy(new Error("beyond 5 s")), TIMEOUT_MS);
  sent.once("error", reject);
  sent.once("close", () => clearTimeout(limit));
  sent.end(kind === "probe" ? undefined : body);
  return promise;
}

async function callSteadily(kind: CallKind): Promise<Answered> {
  const asked = RATES[kind] * order.seconds;
  const calls: Promise<number>[] = [];
  for (; calls.length < asked; await new Promise((over) => setTimeout(over, 1_000 / RATES[kind]))) {
    const one = call(kind);
    one.catch(() => undefined);
    calls.push(one);
  }
  const ends = await Promise.allSettled(calls);
  const waitsMs = ends.flatMap((end) => (end.status === "fulfilled" ? [end.value] : []));
  const failures = ends.flatMap((end) => (end.status === "rejected" ? [(end.reason as Error).message] : []));
  return { asked, waitsMs: waitsMs.toSorted((one, other) => one - other), failures };
}

if (process.argv[1] === import.meta.filename) {
  const kinds = Object.keys(RATES) as CallKind[];
  const answers = await Promise.all(kinds.map(callSteadily));
  const result = Object.fromEntries(kinds.map((kind, index) => [kind, answers[index]]));
  process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
}
