/**
 * Starts the thread of the clients and of the Service's proxy. In the main thread the simulated kubelet's work would delay them:
 * a client would receive the FIN of a connection late, and send its next request on that closed connection.
 */
import { Worker } from "node:worker_threads";
import { FAULTS, Fault } from "../../fault.ts";
import type { PodNetwork } from "../network/pod-network.ts";
import type { EndpointChange, ForwardedConnection } from "../network/service-proxy.ts";
import type { LoadOptions, RequestCounts } from "./load.ts";

export type TrafficPlan = {
  readonly network: Pick<PodNetwork, "serviceAddress" | "trafficAddress">;
  readonly port: number;
  readonly propagationMs: number;
  readonly loadOptions: LoadOptions;
  /** `performance.timeOrigin` of the main thread, from which all times count. */
  readonly timeOriginMs: number;
};

export type TrafficCommand =
  | { readonly kind: "enqueue"; readonly change: EndpointChange }
  | { readonly kind: "flush" }
  | { readonly kind: "start" }
  | { readonly kind: "request-long"; readonly host: string; readonly ms: number }
  | { readonly kind: "stop" };

export type TrafficResult = {
  readonly counts: RequestCounts;
  readonly forwardedConnections: readonly ForwardedConnection[];
};

export type Traffic = {
  readonly enqueue: (change: EndpointChange) => void;
  /** Applies all endpoint changes immediately. */
  readonly flush: () => void;
  readonly start: () => void;
  readonly requestLong: (host: string, ms: number) => void;
  /** Resolves when the last response has arrived. */
  readonly stop: () => Promise<TrafficResult>;
  readonly close: () => Promise<void>;
};

/** @throws Fault ERR_DEMO_FAILED if the proxy cannot listen; the result's promises reject with it if the thread ends */
export async function startTraffic(plan: Omit<TrafficPlan, "timeOriginMs">): Promise<Traffic> {
  const workerData: TrafficPlan = { ...plan, timeOriginMs: performance.timeOrigin };
  const thread = new Worker(new URL("./traffic-thread.ts", import.meta.url), { workerData });
  const threadEnd = new Promise<never>((_, reject) => {
    thread.once("error", (error) => reject(faultOf(error)));
    thread.once("exit", () => reject(new Fault("ERR_DEMO_FAILED", "the clients' thread exited")));
  });
  threadEnd.catch(() => {});
  const receive = <Message>() =>
    Promise.race([threadEnd, new Promise<Message>((resolve) => void thread.once("message", resolve))]);
  const send = (command: TrafficCommand) => thread.postMessage(command);
  await receive<"listening">();
  return {
    enqueue: (change) => send({ kind: "enqueue", change }),
    flush: () => send({ kind: "flush" }),
    start: () => send({ kind: "start" }),
    requestLong: (host, ms) => send({ kind: "request-long", host, ms }),
    stop: () => {
      const result = receive<TrafficResult>();
      send({ kind: "stop" });
      return result;
    },
    close: async () => {
      await thread.terminate();
    },
  };
}

/** A fault of the thread arrives as an error without its class. */
function faultOf(error: unknown): Fault {
  const text = error instanceof Error ? error.message : String(error);
  return new Fault("ERR_DEMO_FAILED", text.replace(`${FAULTS.ERR_DEMO_FAILED}: `, ""), error);
}
