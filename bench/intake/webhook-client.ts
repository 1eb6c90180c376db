/**
 * Sends reviews and probes to the webhook at a steady rate, as an API server and a kubelet do, and prints the latencies as one
 * line of JSON.
 */
import { readFileSync } from "node:fs";
import { Agent, request } from "node:https";

export type ClientSettings = {
  readonly port: number;
  readonly caFile: string;
  readonly bodyFile: string;
  /** Path of a JSON file with the client certificate and its key, for reviews but not for probes; empty without a certificate. */
  readonly clientFile: string;
  readonly seconds: number;
};

export const CALLS_PER_SECOND = { new: 6, keptAlive: 25, probe: 1 } as const;
export type CallKind = keyof typeof CALLS_PER_SECOND;

export type CallResults = {
  readonly sent: number;
  /** Milliseconds from the start of a call to its complete response, sorted. */
  readonly latenciesMs: readonly number[];
  readonly failures: readonly string[];
};
export type ClientResult = Readonly<Record<CallKind, CallResults>>;

/** `timeoutSeconds` of the webhook configuration; kubelet probes have a shorter timeout. */
const TIMEOUT_MS = 5_000;

const settings: ClientSettings = JSON.parse(process.argv[2] ?? "{}");
const body = readFileSync(settings.bodyFile);
const clientCertificate = settings.clientFile === "" ? {} : JSON.parse(readFileSync(settings.clientFile, "utf8"));
const webhookOptions = {
  host: "127.0.0.1",
  port: settings.port,
  ca: readFileSync(settings.caFile),
  servername: "localhost",
};
/** The limits of an API server's webhook client: any number of connections, at most 25 of them idle. */
const keepAliveAgent = new Agent({ keepAlive: true, maxFreeSockets: 25 });

const REVIEW_OPTIONS = {
  path: "/mutate",
  method: "POST",
  headers: { "content-type": "application/json", "content-length": body.length },
  ...clientCertificate,
};
const CALL_OPTIONS = {
  new: { ...REVIEW_OPTIONS, agent: false },
  keptAlive: { ...REVIEW_OPTIONS, agent: keepAliveAgent },
  probe: { path: "/readyz", method: "GET", headers: {}, agent: false },
} as const;

function sendCall(kind: CallKind): Promise<number> {
  const startedMs = performance.now();
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const outgoing = request({ ...webhookOptions, ...CALL_OPTIONS[kind] }, (reply) => {
    reply.resume();
    reply.once("error", reject);
    reply.once("end", () => {
      if (reply.statusCode === 200) resolve(performance.now() - startedMs);
      else reject(new Error(`status ${reply.statusCode}`));
    });
  });
  // The request's own timeout option would limit only idle time.
  const timer = setTimeout(() => outgoing.destroy(new Error("no response within 5 s")), TIMEOUT_MS);
  outgoing.once("error", reject);
  outgoing.once("close", () => clearTimeout(timer));
  outgoing.end(kind === "probe" ? undefined : body);
  return promise;
}

async function sendCallsSteadily(kind: CallKind): Promise<CallResults> {
  const sent = CALLS_PER_SECOND[kind] * settings.seconds;
  const calls: Promise<number>[] = [];
  for (; calls.length < sent; await new Promise((resolve) => setTimeout(resolve, 1_000 / CALLS_PER_SECOND[kind]))) {
    const call = sendCall(kind);
    call.catch(() => undefined);
    calls.push(call);
  }
  const outcomes = await Promise.allSettled(calls);
  const latenciesMs = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
  const failures = outcomes.flatMap((outcome) =>
    outcome.status === "rejected" ? [(outcome.reason as Error).message] : [],
  );
  return { sent, latenciesMs: latenciesMs.toSorted((left, right) => left - right), failures };
}

if (process.argv[1] === import.meta.filename) {
  const kinds = Object.keys(CALLS_PER_SECOND) as CallKind[];
  const results = await Promise.all(kinds.map(sendCallsSteadily));
  const result = Object.fromEntries(kinds.map((kind, index) => [kind, results[index]]));
  process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
}
