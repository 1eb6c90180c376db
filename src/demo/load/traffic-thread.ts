/** Runs the clients and the Service's proxy; see `traffic.ts`. */
import { parentPort, workerData } from "node:worker_threads";
import { type Clock, realClock } from "../clock.ts";
import { startServiceProxy } from "../network/service-proxy.ts";
import { createRequestCounter, type Load, startLoad } from "./load.ts";
import type { TrafficCommand, TrafficPlan, TrafficResult } from "./traffic.ts";

const REQUEST_TIMEOUT_MS = 10_000;

const plan: TrafficPlan = workerData;
// `performance.now` counts from the start of its own thread.
const clock: Clock = { ...realClock, nowMs: () => performance.timeOrigin - plan.timeOriginMs + performance.now() };
const { network, port, propagationMs } = plan;
const proxy = await startServiceProxy({ clock, network, port, targetPort: port, propagationMs });
const counter = createRequestCounter();
let load: Load | undefined;

parentPort?.on("message", (command: TrafficCommand) => {
  switch (command.kind) {
    case "enqueue":
      return proxy.enqueue(command.change);
    case "flush":
      return proxy.flush();
    case "start":
      load = startClients();
      return;
    case "request-long":
      return load?.requestLong(command.host, port, command.ms);
    case "stop":
      void stop();
  }
});
parentPort?.postMessage("listening");

function startClients(): Load {
  return startLoad(plan.loadOptions, {
    clock,
    counter,
    random: Math.random,
    target: {
      clock,
      host: network.serviceAddress,
      port: proxy.port,
      localAddress: network.trafficAddress,
      timeoutMs: REQUEST_TIMEOUT_MS,
      wasRefused: proxy.wasRefused,
    },
  });
}

async function stop(): Promise<void> {
  await load?.stop();
  const result: TrafficResult = { counts: counter.counts(), forwardedConnections: proxy.forwardedConnections() };
  parentPort?.postMessage(result);
}
