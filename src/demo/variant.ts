/** One of the two rolling updates: Pods, Service, load, the update, and what came of it. */
import { createEndpointFeed, createSliceController, type SlicePorts } from "./api-server/slice-controller.ts";
import type { Clock } from "./clock.ts";
import { createRequestCounter, type LoadShape, startLoad } from "./load/load.ts";
import type { PodNetwork } from "./network/pod-network.ts";
import { startServiceProxy } from "./network/service-proxy.ts";
import { createPodRunner } from "./pods/pod-runner.ts";
import type { ProcessTable } from "./pods/process-table.ts";
import type { RunningPod } from "./pods/running-pod.ts";
import { deletedMs, endOf, type VariantResult } from "./report/pod-end.ts";
import { placeOf } from "./rollout/deployment.ts";
import { allReady, createPod, replacePods } from "./rollout/rollout.ts";

type VariantRequest = {
  readonly deployment: object;
  readonly replicas: number;
  readonly port: number;
  readonly propagationMs: number;
  readonly load: LoadShape;
  readonly longRequest: boolean;
};

export type VariantPorts = {
  readonly clock: Clock;
  readonly processes: ProcessTable;
  readonly network: PodNetwork;
  /** The way of a Pod through admission; the same Pod when there is no webhook. */
  readonly admit: (pod: object) => Promise<object>;
  /** Where the Service's EndpointSlice is kept; `undefined` where nothing reads it. */
  readonly writeSlice: SlicePorts["write"] | undefined;
  readonly random: () => number;
  readonly managerProgram: readonly string[];
  readonly preloadLibrary: string;
  readonly imageEnvironment: Readonly<Record<string, string>>;
};

const STEADY_MS = 1_500;
const AFTERWARDS_MS = 1_000;
const REQUEST_TIMEOUT_MS = 10_000;
const LONG_MS = 5_000;
/** So that the long request has reached its Pod before the deletion has. */
const LONG_LEAD_MS = 200;

/** @throws Fault ERR_DEMO_FAILED when a Pod or the webhook does not do its part. */
export async function runVariant(request: VariantRequest, ports: VariantPorts): Promise<VariantResult> {
  const { clock, network } = ports;
  const startedMs = clock.nowMs();
  const proxy = await startServiceProxy({
    clock,
    network,
    port: request.port,
    targetPort: request.port,
    propagationMs: request.propagationMs,
  });
  const slices = slicesOf(request, ports);
  const feed = createEndpointFeed((change, pod) => {
    proxy.tell(change);
    slices?.tell(change, pod);
  });
  const runner = createPodRunner({ ...ports, onEvent: feed });
  const newPods = { runner, admit: ports.admit };
  try {
    const old = await Promise.all(
      Array.from({ length: request.replicas }, () => createPod(request.deployment, "5d9c7b", newPods)),
    );
    await allReady(old, clock);
    proxy.catchUp();
    slices?.catchUp();
    const counter = createRequestCounter();
    const load = startLoad(request.load, {
      clock,
      counter,
      random: ports.random,
      target: {
        clock,
        host: network.serviceAddress,
        port: proxy.port,
        localAddress: network.trafficAddress,
        timeoutMs: REQUEST_TIMEOUT_MS,
        wasRefused: proxy.wasRefused,
      },
    });
    await clock.wait(STEADY_MS);
    const { oldGone } = await replacePods(old, {
      clock,
      createPod: () => createPod(request.deployment, "7f4d86", newPods),
      beforeDelete: async (pod) => {
        if (!request.longRequest) return;
        load.askLong(pod.address, request.port, LONG_MS);
        await clock.wait(LONG_LEAD_MS);
      },
    });
    await oldGone;
    await clock.wait(Math.max(0, lastDeletionMs(old) + request.propagationMs - clock.nowMs()) + AFTERWARDS_MS);
    await load.stop();
    const ended = old.map((pod) =>
      endOf(pod, {
        forwarded: proxy.forwarded(),
        propagationMs: request.propagationMs,
        slicesWithdrawnMs: slices?.withdrawnMs(pod.plan),
      }),
    );
    return { tally: counter.tally(), ended, tookMs: clock.nowMs() - startedMs };
  } finally {
    await runner.close();
    await proxy.close();
    slices?.close();
  }
}

/** Half of the propagation passes before the slice changes, the rest before the proxy has acted on it. */
function slicesOf({ deployment, port, propagationMs }: VariantRequest, { clock, writeSlice }: VariantPorts) {
  if (writeSlice === undefined) return undefined;
  const service = { ...placeOf(deployment), port };
  return createSliceController({ clock, service, lagMs: propagationMs / 2, write: writeSlice });
}

function lastDeletionMs(pods: readonly RunningPod[]): number {
  return Math.max(...pods.map(deletedMs));
}
