/** Rolls one Deployment repeatedly under the load of all client nodes. */
import { createEndpointFeed, createSliceController } from "../../../src/demo/api-server/slice-controller.ts";
import type { EndpointChange } from "../../../src/demo/network/service-proxy.ts";
import { createPodRunner, type PodRunnerPorts } from "../../../src/demo/pods/pod-runner.ts";
import type { RunningPod } from "../../../src/demo/pods/running-pod.ts";
import { deletedMs, podEndOf } from "../../../src/demo/report/pod-end.ts";
import { admitPod } from "../../../src/demo/rollout/admission-client.ts";
import { identityOf, replicasOf, servicePort } from "../../../src/demo/rollout/deployment.ts";
import { createPod, replacePods, waitForAllReady } from "../../../src/demo/rollout/rollout.ts";
import type { Servers } from "../../../src/demo/servers.ts";
import { overWaitMs } from "../harness/over-wait.ts";
import type { ClientNodes } from "./client-nodes.ts";
import { sharedNowMs } from "./load/timing.ts";
import type { DrainFacts, NodeResult, RolloutsRequest } from "./rollouts-request.ts";

type RollingInput = RolloutsRequest & { readonly deployment: object };

export type RollingPorts = Omit<PodRunnerPorts, "onEvent"> & { readonly servers: Servers; readonly nodes: ClientNodes };

export type RollingResult = { readonly nodes: readonly NodeResult[]; readonly drains: readonly DrainFacts[] };

const RAMP_UP_MS = 2_000;
const STEADY_MS = 1_000;
/** Minimum time from the readiness of new Pods to the next rollout. */
const MIN_PAUSE_MS = 2_000;

export async function rollRepeatedly(request: RollingInput, ports: RollingPorts): Promise<RollingResult> {
  const { clock, servers, nodes } = ports;
  const slices = createSlices(request, ports);
  const onPodEvent = createEndpointFeed((change: EndpointChange, pod) => {
    nodes.sendChange(change);
    slices?.enqueue(change, pod);
  });
  const runner = createPodRunner({ ...ports, onEvent: onPodEvent });
  const podCreation = { runner, admit: async (pod: object) => (await admitPod(pod, servers.webhook)).pod };
  const createRevision = (revision: number) => createPod(request.deployment, templateHash(revision), podCreation);
  const endedPods: RunningPod[] = [];
  const removals: Promise<void>[] = [];
  try {
    let pods: readonly RunningPod[] = await Promise.all(
      Array.from({ length: replicasOf(request.deployment) }, () => createRevision(0)),
    );
    await waitForAllReady(pods, clock);
    slices?.flush();
    nodes.send("start");
    await clock.wait(RAMP_UP_MS);
    nodes.send("measure");
    await clock.wait(STEADY_MS);
    for (let count = 1; count <= request.rollouts; count += 1) {
      const createNext = () => createRevision(count);
      const { updatedPods, oldPodsRemoved } = await replacePods(pods, {
        clock,
        createPod: createNext,
        beforeDelete: async () => {},
      });
      endedPods.push(...pods);
      removals.push(oldPodsRemoved);
      pods = updatedPods;
      if (request.waitsForEnds) await oldPodsRemoved;
      // Twice the time after which the slowest client node applies an endpoint change.
      await clock.wait(Math.max(MIN_PAUSE_MS, 2 * Math.max(...request.propagationMs)));
    }
    await Promise.all(removals);
    await clock.wait(STEADY_MS);
    const nodeResults = await nodes.stop();
    const clockOffsetMs = sharedNowMs() - clock.nowMs();
    const drains = endedPods.map((pod) =>
      collectDrainFacts({
        pod,
        request,
        nodeResults,
        clockOffsetMs,
        withdrawnMs: slices?.withdrawnMs(pod.plan),
      }),
    );
    return { nodes: nodeResults, drains };
  } finally {
    await runner.close();
    slices?.close();
  }
}

function createSlices({ deployment, propagationMs }: RollingInput, { clock, servers }: RollingPorts) {
  if (servers.writeSlice === undefined) return undefined;
  const service = { ...identityOf(deployment), port: servicePort(deployment) };
  return createSliceController({ clock, service, lagMs: Math.min(...propagationMs) / 2, write: servers.writeSlice });
}

type EndedPod = {
  readonly pod: RunningPod;
  readonly request: RollingInput;
  readonly nodeResults: readonly NodeResult[];
  readonly clockOffsetMs: number;
  readonly withdrawnMs: number | undefined;
};

function collectDrainFacts({ pod, request, nodeResults, clockOffsetMs, withdrawnMs }: EndedPod): DrainFacts {
  const { summary, drainSeconds } = podEndOf(pod, {
    forwardedConnections: [],
    propagationMs: Math.max(...request.propagationMs),
    slicesWithdrawnMs: withdrawnMs,
  });
  const lastActivityMs = nodeResults.flatMap(({ lastWorkMs }) => lastWorkMs[pod.address] ?? []);
  const releasedMs = releaseTimeMs(pod);
  return {
    outcome: summary?.outcome ?? "",
    why: summary?.why ?? "",
    drainMs: Math.round(drainSeconds * 1_000),
    leftTotal: summary?.leftTotal ?? 0,
    served: lastActivityMs.length > 0,
    overWaitMs: overWaitMs(
      {
        deletedMs: deletedMs(pod),
        releasedMs,
        withdrawnMs,
        lastWorkMs: lastActivityMs.length === 0 ? undefined : Math.max(...lastActivityMs) - clockOffsetMs,
      },
      request.settings,
    ),
  };
}

/** Some of the characters in Kubernetes' hashes of Pod templates; the relay needs such a hash to find a Pod's Deployment. */
const HASH_DIGITS = "bcdfghjklm";

function templateHash(revision: number): string {
  return String(revision).replace(/[0-9]/g, (digit) => HASH_DIGITS[Number(digit)] ?? "");
}

/** Time of the app's stop signal, or of the Pod's last event if the app did not receive a signal. */
function releaseTimeMs(pod: RunningPod): number {
  const stopSignal = pod.events.find(({ type, container }) => type === "SIGTERM" && container === "app");
  return stopSignal?.atMs ?? pod.events.at(-1)?.atMs ?? 0;
}
