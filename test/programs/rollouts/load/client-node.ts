/** A process: all clients of one node. Told by messages what happens; sends its counts when stopped. Paced by the clock alone. */
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
import { createPace, sharedNowMs } from "./timing.ts";
import { createWorkBook } from "./work-book.ts";

export type NodeStart = {
  readonly plan: LoadPlan;
  /** This node's share of the plan's rates. */
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
const SWEEP_MS = 50;
const TIMEOUT_MS = 10_000;

const { plan, share, propagationMs, localAddress } = JSON.parse(process.argv[2] ?? "") as NodeStart;
const nowMs = sharedNowMs;
const book = createWorkBook(nowMs);
const view = createEndpointView();
const ports = {
  plan,
  book,
  nowMs,
  random: Math.random,
  nextPod: view.next,
  usablePods: view.usable,
  target: { clock: realClock, localAddress, timeoutMs: TIMEOUT_MS },
};
const http1 = createHttp1Clients(ports);
const clients = {
  http1,
  http2: createHttp2Clients("http2", ports),
  grpc: createHttp2Clients("grpc", ports),
};
const timers: NodeJS.Timeout[] = [];

process.on("message", (message: NodeMessage) => {
  if (message.kind === "endpoint") view.tell(message.change);
  else if (message.kind === "start") start();
  else if (message.kind === "measure") book.measure();
  else void stop();
});
// The program that started this has left.
process.once("disconnect", () => process.exit(130));

function start(): void {
  view.catchUp();
  const paces = PROTOCOLS.map((protocol) => ({
    ask: clients[protocol].ask,
    due: createPace(plan.rates[protocol] * share, nowMs()),
  }));
  let tickedMs = nowMs();
  timers.push(
    setInterval(() => {
      book.stalled(nowMs() - tickedMs - TICK_MS);
      tickedMs = nowMs();
      for (const { ask, due } of paces) for (let count = due(tickedMs); count > 0; count -= 1) ask();
    }, TICK_MS),
    setInterval(() => {
      for (const protocol of PROTOCOLS) clients[protocol].sweep();
      if (plan.idleKeepers) http1.keepSilent();
    }, SWEEP_MS),
  );
  http1.startSlow(plan.slowClients);
}

async function stop(): Promise<void> {
  book.close();
  for (const timer of timers) clearInterval(timer);
  await Promise.all(PROTOCOLS.map((protocol) => clients[protocol].stop()));
  process.send?.(book.result(), () => process.exit(0));
}

/** What one node knows of the Service: each change late, and a Pod chosen for each new connection, as kube-proxy does it. */
function createEndpointView() {
  let inApi: readonly Endpoint[] = [];
  let known: readonly Endpoint[] = [];
  let turn = 0;
  const usable = () => usableEndpoints(known).map(({ address }) => address);
  return {
    tell: (change: EndpointChange) => {
      inApi = applyChange(inApi, change);
      void realClock.wait(propagationMs).then(() => {
        known = applyChange(known, change);
      });
    },
    /** Everything told so far is known now. */
    catchUp: () => {
      known = inApi;
    },
    /** The Pod for a new connection, in turn; `undefined` where none is known. */
    next: () => {
      const addresses = usable();
      return addresses[turn++ % Math.max(1, addresses.length)];
    },
    usable,
  };
}
