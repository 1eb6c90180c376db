/** Runs all clients of one node as a process. Receives endpoint changes and commands by IPC; sends the clients' counts at the end. */
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
  usablePods: endpointView.usableAddresses,
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
    countDue: createRequestPace(plan.rates[protocol] * share, nowMs()),
  }));
  let lastTickMs = nowMs();
  timers.push(
    setInterval(() => {
      counter.recordStall(nowMs() - lastTickMs - TICK_MS);
      lastTickMs = nowMs();
      for (const { sendRequest, countDue } of paces)
        for (let count = countDue(lastTickMs); count > 0; count -= 1) sendRequest();
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
  let publishedEndpoints: readonly Endpoint[] = [];
  let appliedEndpoints: readonly Endpoint[] = [];
  let nextIndex = 0;
  const usableAddresses = () => usableEndpoints(appliedEndpoints).map(({ address }) => address);
  return {
    receive: (change: EndpointChange) => {
      publishedEndpoints = applyChange(publishedEndpoints, change);
      void realClock.wait(propagationMs).then(() => {
        appliedEndpoints = applyChange(appliedEndpoints, change);
      });
    },
    applyAll: () => {
      appliedEndpoints = publishedEndpoints;
    },
    next: () => {
      const addresses = usableAddresses();
      return addresses[nextIndex++ % Math.max(1, addresses.length)];
    },
    usableAddresses,
  };
}
