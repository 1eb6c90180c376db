/**
 * Sends one kind of load to a gateway, from a Pod: `gateway-load.mjs --kind=http2 --host=IP --port=N`. Clients never retry
 * requests. At SIGTERM the program waits for open requests, and prints its counts as one JSON line.
 */
import { parseArgs } from "node:util";
import { realClock } from "../../src/demo/clock.ts";
import { createHttp1Clients } from "../../test/programs/rollouts/load/http1-clients.ts";
import { createHttp2Clients } from "../../test/programs/rollouts/load/http2-clients.ts";
import { createNodeCounter } from "../../test/programs/rollouts/load/node-counter.ts";
import { createRequestPace } from "../../test/programs/rollouts/load/timing.ts";
import { type LoadPlan, perProtocol } from "../../test/programs/rollouts/rollouts-request.ts";
import { type GatewayCounts, isLoadKind, LOAD_KINDS, type RequestKind } from "./gateway-load-kinds.ts";
import { startSessions } from "./gateway-sessions.ts";

const REQUESTS_PER_SECOND = 100;
const TICK_MS = 5;
const EXPIRY_CHECK_MS = 50;
const TIMEOUT_MS = 15_000;
const SLOWEST_RESPONSE_MS = 5_000;

const options = { kind: { type: "string" }, host: { type: "string" }, port: { type: "string" } } as const;
const { kind = "", host = "", port = "" } = parseArgs({ options }).values;
if (!isLoadKind(kind)) throw new Error(`--kind: got "${kind}", expected one of ${Object.keys(LOAD_KINDS).join(", ")}.`);
const row = LOAD_KINDS[kind];
const target = { host, port: Number(port) };
const load = "session" in row ? startSessions(row.session, target) : startRequests(row);
process.stdout.write(`${JSON.stringify({ started: new Date().toISOString(), kind, host, port })}\n`);
await new Promise<void>((resolve) => process.once("SIGTERM", () => resolve()));
process.stdout.write(`${JSON.stringify(await load.stop())}\n`);
process.exit(0);

function startRequests({ protocol, lives }: RequestKind): { readonly stop: () => Promise<GatewayCounts> } {
  const nowMs = () => performance.now();
  const counter = createNodeCounter(nowMs);
  const plan: LoadPlan = {
    rates: perProtocol((name) => (name === protocol ? REQUESTS_PER_SECOND : 0)),
    ports: perProtocol(() => target.port),
    lives,
    keptHttp1: 8,
    keptHttp2: 4,
    // Endless clients do not open connections beside their pool.
    newConnectionEvery: lives === "endless" ? Number.POSITIVE_INFINITY : 10,
    slowClients: protocol === "http1" && lives !== "endless" ? 2 : 0,
    slowestResponseMs: SLOWEST_RESPONSE_MS,
    idleConnections: false,
  };
  const ports = {
    plan,
    counter,
    nowMs,
    random: Math.random,
    nextPod: () => host,
    usablePods: () => [host],
    target: { clock: realClock, localAddress: "0.0.0.0", timeoutMs: TIMEOUT_MS },
  };
  const http1Clients = createHttp1Clients(ports);
  const clients = protocol === "http1" ? http1Clients : createHttp2Clients(protocol, ports);
  const countDue = createRequestPace(REQUESTS_PER_SECOND, nowMs());
  const timers = [
    setInterval(() => {
      for (let count = countDue(nowMs()); count > 0; count -= 1) clients.sendRequest();
    }, TICK_MS),
    setInterval(() => clients.closeExpired(), EXPIRY_CHECK_MS),
  ];
  counter.startMeasuring();
  http1Clients.startSlow(plan.slowClients);
  return {
    stop: async () => {
      for (const timer of timers) clearInterval(timer);
      await clients.stop();
      counter.stopMeasuring();
      const { answered, failed, failures } = counter.result();
      return {
        requests: answered[protocol] + failed[protocol],
        failed: failed[protocol],
        failures: failures.map((failure) => failure.kind),
      };
    },
  };
}
