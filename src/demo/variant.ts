/** Runs one of the rolling updates under load. */
import { createEndpointFeed, createSliceController, type SlicePorts } from "./api-server/slice-controller.ts";
import type { LoadOptions } from "./load/load.ts";
import { startTraffic } from "./load/traffic.ts";
import { createPodRunner, type PodRunnerPorts } from "./pods/pod-runner.ts";
import { deletedMs, podEndOf, type VariantResult } from "./report/pod-end.ts";
import { identityOf } from "./rollout/deployment.ts";
import { createPod, replacePods, waitForAllReady } from "./rollout/rollout.ts";

export type VariantRequest = {
  readonly deployment: object;
  readonly replicas: number;
  readonly port: number;
  readonly propagationMs: number;
  readonly loadOptions: LoadOptions;
  readonly hasLongRequest: boolean;
};

export type VariantPorts = Omit<PodRunnerPorts, "onEvent"> & {
  readonly admit: (pod: object) => Promise<object>;
  /** Stores the EndpointSlice of the Service; `undefined` without the relay, its only reader. */
  readonly writeSlice: SlicePorts["write"] | undefined;
};

const STEADY_MS = 1_500;
const AFTER_UPDATE_MS = 1_000;
const LONG_REQUEST_MS = 5_000;
/** The long request must reach its Pod before the deletion. */
const LONG_REQUEST_LEAD_MS = 200;

/** @throws Fault ERR_DEMO_FAILED when a Pod or the webhook fails */
export async function runVariant(request: VariantRequest, ports: VariantPorts): Promise<VariantResult> {
  const { clock, network } = ports;
  const { deployment, port, propagationMs } = request;
  const startedMs = clock.nowMs();
  const { serviceAddress, trafficAddress } = network;
  const traffic = await startTraffic({
    network: { serviceAddress, trafficAddress },
    port,
    propagationMs,
    loadOptions: request.loadOptions,
  });
  const sliceController = sliceControllerOf(request, ports);
  const forwardEvent = createEndpointFeed((change, pod) => {
    traffic.enqueue(change);
    sliceController?.enqueue(change, pod);
  });
  const runner = createPodRunner({ ...ports, onEvent: forwardEvent });
  const newPods = { runner, admit: ports.admit };
  try {
    const createWithRevision = (revision: string) => createPod(deployment, revision, newPods);
    const oldPods = await Promise.all(Array.from({ length: request.replicas }, () => createWithRevision("5d9c7b")));
    await waitForAllReady(oldPods, clock);
    traffic.flush();
    sliceController?.flush();
    traffic.start();
    await clock.wait(STEADY_MS);
    const { oldPodsRemoved } = await replacePods(oldPods, {
      clock,
      createPod: () => createWithRevision("7f4d86"),
      beforeDelete: async (pod) => {
        if (!request.hasLongRequest) return;
        traffic.requestLong(pod.address, LONG_REQUEST_MS);
        await clock.wait(LONG_REQUEST_LEAD_MS);
      },
    });
    await oldPodsRemoved;
    const appliedMs = Math.max(...oldPods.map(deletedMs)) + propagationMs;
    await clock.wait(Math.max(0, appliedMs - clock.nowMs()) + AFTER_UPDATE_MS);
    const { counts, forwardedConnections } = await traffic.stop();
    const endedPods = oldPods.map((pod) =>
      podEndOf(pod, {
        forwardedConnections,
        propagationMs,
        slicesWithdrawnMs: sliceController?.withdrawnMs(pod.plan),
      }),
    );
    return { counts, endedPods, durationMs: clock.nowMs() - startedMs };
  } finally {
    await runner.close();
    await traffic.close();
    sliceController?.close();
  }
}

/** The EndpointSlice changes after half of the propagation time; the proxy applies the change at the end of the propagation time. */
function sliceControllerOf({ deployment, port, propagationMs }: VariantRequest, { clock, writeSlice }: VariantPorts) {
  if (writeSlice === undefined) return undefined;
  const service = { ...identityOf(deployment), port };
  return createSliceController({ clock, service, lagMs: propagationMs / 2, write: writeSlice });
}
