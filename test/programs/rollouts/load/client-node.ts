/** Runs all clients of one node as a process. Receives endpoint changes and commands by IPC; sends its counts at the end. */
import { realClock } from "../../../../src/demo/clock.ts";
import {
  applyChange,
  type Endpoint,
  type EndpointChange,
  usableEndpoints,
} from "../../../../src/demo/network/service-proxy.ts";
import { type LoadPlan, PROTOCOLS } from "../rollouts-request.ts";
import { createHttp1Clients } from "./http1-clients.ts";
import { createHttp2Clients } from "./http2-clients.ts";
import { createNodeCounter } from "./node-counter.ts";
import { createRequestPace, sharedNowMs } from "./timing.ts";

export type NodeStart = {
  readonly plan: LoadPlan;
  readonly share: number;
  readonly propagationMs: number;
  readonly localAddress: string;
};

export type NodeMessage =
  | { readonly kind: "endpoint"; readonly change: EndpointChange }
  | { readonly kind: "start" }
  | { readonly kind: "measure" }
  | { readonly kind: "stop" };

const TICK_MS = 5;
const EXPIRY_CHECK_MS = 50;
const TIMEOUT_MS = 10_000;

const { plan, share, propagationMs, localAddress } = JSON.parse(process.argv[2] ?? "") as NodeStart;
const nowMs = sharedNowMs;
const counter = createNodeCounter(nowMs);
const endpointView = createEndpointView();
const ports = {
  plan,
  counter,
  nowMs,
  random: Math.random,
  nextPod: endpointView.next,
  usablePods: endpointView.usable,
  target: { clock: realClock, localAddress, timeoutMs: TIMEOUT_MS + plan.slowestResponseMs },
};
const http1 = createHttp1Clients(ports);
const clients = {
  http1,
  http2: createHttp2Clients("http2", ports),
  grpc: createHttp2Clients("grpc", ports),
};
const timers: NodeJS.Timeout[] = [];

process.on("message", (message: NodeMessage) => {
  if (message.kind === "endpoint") endpointView.receive(message.change);
  else if (message.kind === "start") start();
  else if (message.kind === "measure") counter.startMeasuring();
  else void stop();
});
process.once("disconnect", () => process.exit(130));

function start(): void {
  endpointView.applyAll();
  const paces = PROTOCOLS.map((protocol) => ({
    sendRequest: clients[protocol].sendRequest,
    due: createRequestPace(plan.rates[protocol] * share, nowMs()),
  }));
  let tickedMs = nowMs();
  timers.push(
    setInterval(() => {
      counter.recordStall(nowMs() - tickedMs - TICK_MS);
      tickedMs = nowMs();
      for (const { sendRequest, due } of paces) for (let count = due(tickedMs); count > 0; count -= 1) sendRequest();
    }, TICK_MS),
    setInterval(() => {
      for (const protocol of PROTOCOLS) clients[protocol].closeExpired();
      if (plan.idleConnections) http1.openIdle();
    }, EXPIRY_CHECK_MS),
  );
  http1.startSlow(plan.slowClients);
}

async function stop(): Promise<void> {
  counter.stopMeasuring();
  for (const timer of timers) clearInterval(timer);
  await Promise.all(PROTOCOLS.map((protocol) => clients[protocol].stop()));
  process.send?.(counter.result(), () => process.exit(0));
}

/** Keeps one node's copy of the Service's endpoints: applies changes with a delay, and chooses Pods in turn. */
function createEndpointView() {
  let published: readonly Endpoint[] = [];
  let applied: readonly Endpoint[] = [];
  let nextIndex = 0;
  const usable = () => usableEndpoints(applied).map(({ address }) => address);
  return {
    receive: (change: EndpointChange) => {
      published = applyChange(published, change);
      void realClock.wait(propagationMs).then(() => {
        applied = applyChange(applied, change);
      });
    },
    applyAll: () => {
      applied = published;
    },
    next: () => {
      const addresses = usable();
      return addresses[nextIndex++ % Math.max(1, addresses.length)];
    },
    usable,
  };
}
