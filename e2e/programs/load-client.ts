/**
 * The load client in a Pod: `load-client.mjs --host IP --port N --seconds 30 …`. It sends mixed load with the demo's client, which
 * never retries. It stops after its time or at SIGTERM, completes open requests, and prints its counts as one JSON line.
 */
import { writeFileSync } from "node:fs";
import { connect } from "node:net";
import { parseArgs } from "node:util";
import { realClock } from "../../src/demo/clock.ts";
import { createRequestCounter, DEFAULT_LOAD, type LoadOptions, startLoad } from "../../src/demo/load/load.ts";
import { recordFailures } from "./failure-times.ts";

const DEFAULT_FLAGS = {
  port: 80,
  seconds: 3600,
  "new-connections": DEFAULT_LOAD.newConnectionClients,
  pooled: DEFAULT_LOAD.pooledClients,
  slow: DEFAULT_LOAD.slowClients,
  endless: 0,
  "pool-life-ms": 10_000,
  "timeout-ms": 15_000,
};
type NumericFlags = { readonly [Name in keyof typeof DEFAULT_FLAGS]: number };

const CONNECT_LIMIT_MS = 30_000;

const { values } = parseArgs({
  options: {
    host: { type: "string" },
    path: { type: "string" },
    ...Object.fromEntries(Object.keys(DEFAULT_FLAGS).map((name) => [name, { type: "string" as const }])),
  },
});

function readFlags(): NumericFlags {
  const parsedNumbers = { ...DEFAULT_FLAGS };
  for (const name of Object.keys(DEFAULT_FLAGS)) {
    const text: unknown = Reflect.get(values, name);
    if (typeof text !== "string") continue;
    if (!/^[0-9]+$/.test(text)) throw new Error(`--${name}: got "${text}", expected a whole number.`);
    Reflect.set(parsedNumbers, name, Number(text));
  }
  return parsedNumbers;
}

const flags = readFlags();
const host = values.host ?? "";
const loadOptions: LoadOptions = {
  newConnectionClients: flags["new-connections"],
  pooledClients: flags.pooled,
  slowClients: flags.slow,
  endlessClients: flags.endless,
  maxConnectionMs: flags["pool-life-ms"],
  path: values.path ?? "/",
  slowPath: DEFAULT_LOAD.slowPath,
};
const counter = createRequestCounter();
const failures = recordFailures(counter, () => Date.now());
const stopping = new AbortController();
process.once("SIGTERM", () => stopping.abort());

await waitUntilReachable(host, flags.port);
const load = startLoad(loadOptions, {
  clock: realClock,
  target: {
    clock: realClock,
    host,
    port: flags.port,
    localAddress: "0.0.0.0",
    timeoutMs: flags["timeout-ms"],
    wasRefused: () => false,
  },
  counter: failures.counter,
  random: Math.random,
});
process.stdout.write(`${JSON.stringify({ started: new Date().toISOString(), host, ...flags })}\n`);
await realClock.wait(flags.seconds * 1000, stopping.signal);
await load.stop();
const result = `${JSON.stringify({ ...counter.counts(), failures: failures.list() })}\n`;
process.stdout.write(result);
// The counts are also the container's termination message, which the Pod's status contains.
try {
  writeFileSync("/dev/termination-log", result);
} catch {
  // The file exists only in a Pod.
}

/**
 * Waits for the first connection: kube-proxy refuses connections to a new Service until it has received the Service's endpoints,
 * and such a refusal is not a failure of a rollout.
 */
async function waitUntilReachable(to: string, port: number): Promise<void> {
  const deadlineMs = performance.now() + CONNECT_LIMIT_MS;
  while (!(await acceptsConnection(to, port))) {
    if (performance.now() > deadlineMs)
      throw new Error(`${to}:${port} accepted no connection within ${CONNECT_LIMIT_MS} ms.`);
    await realClock.wait(50, stopping.signal);
  }
}

function acceptsConnection(to: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: to, port });
    const end = (reached: boolean) => () => {
      socket.destroy();
      resolve(reached);
    };
    socket.once("connect", end(true)).once("error", end(false)).setTimeout(1_000, end(false));
  });
}
