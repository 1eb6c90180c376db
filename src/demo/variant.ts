/** One of the two rolling updates: Pods, Service, load, the update, and what came of it. */
import { randomUUID } from "node:crypto";
import { MANAGER_CONTAINER } from "../contract/manager-environment.ts";
import { Fault } from "../fault.ts";
import type { Clock } from "./clock.ts";
import { type LoadShape, startLoad } from "./load/load.ts";
import { createRequestCounter, type Tally } from "./load/request-tally.ts";
import { createEndpointFeed } from "./network/endpoint-feed.ts";
import type { PodNetwork } from "./network/pod-network.ts";
import { startServiceProxy } from "./network/service-proxy.ts";
import { createPodRunner, type PodRunner } from "./pods/pod-runner.ts";
import type { ProcessTable } from "./pods/process-table.ts";
import type { RunningPod } from "./pods/running-pod.ts";
import { namedPod, podOf } from "./rollout/deployment.ts";
import { hopelessness } from "./rollout/ready-wait.ts";
import { rollOut } from "./rollout/rollout.ts";
import { type DrainSummary, drainSummary } from "./story/drain-lines.ts";
import type { PodEnd } from "./story/timeline.ts";

export type VariantRequest = {
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
  readonly random: () => number;
  readonly managerProgram: readonly string[];
  readonly imageEnvironment: Readonly<Record<string, string>>;
};

export type EndedPod = PodEnd & {
  /** From the deletion to the first stop signal of a regular container; the whole end when none was signalled. */
  readonly drainSeconds: number;
};

export type VariantResult = { readonly tally: Tally; readonly ended: readonly EndedPod[]; readonly tookMs: number };

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
  const runner = createPodRunner({ ...ports, onEvent: createEndpointFeed(proxy.tell) });
  try {
    const old = await Promise.all(
      Array.from({ length: request.replicas }, () => createPod(request.deployment, "5d9c7b", runner, ports)),
    );
    await allReady(old, clock);
    proxy.catchUp();
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
    await rollOut(old, {
      clock,
      createPod: () => createPod(request.deployment, "7f4d86", runner, ports),
      beforeDelete: async (pod) => {
        if (!request.longRequest) return;
        load.askLong(pod.address, request.port, LONG_MS);
        await clock.wait(LONG_LEAD_MS);
      },
    });
    await clock.wait(Math.max(0, lastDeletionMs(old) + request.propagationMs - clock.nowMs()) + AFTERWARDS_MS);
    await load.stop();
    const ended = old.map((pod) => endOf(pod, proxy.forwarded(), request.propagationMs));
    return { tally: counter.tally(), ended, tookMs: clock.nowMs() - startedMs };
  } finally {
    await runner.close();
    await proxy.close();
  }
}

async function createPod(
  deployment: object,
  revision: string,
  runner: PodRunner,
  ports: VariantPorts,
): Promise<RunningPod> {
  const uid = randomUUID();
  return runner.start(namedPod(await ports.admit(podOf(deployment, revision)), uid.slice(0, 5), uid));
}

async function allReady(pods: readonly RunningPod[], clock: Clock): Promise<void> {
  const fromMs = clock.nowMs();
  for (;;) {
    const waited = pods.filter((pod) => !pod.isReady());
    if (waited.length === 0) return;
    const why = hopelessness(waited, clock.nowMs() - fromMs);
    if (why !== undefined) throw new Fault("ERR_DEMO_FAILED", why);
    await clock.wait(25);
  }
}

function lastDeletionMs(pods: readonly RunningPod[]): number {
  return Math.max(...pods.map(deletedMs));
}

function deletedMs(pod: RunningPod): number {
  return pod.events.find((event) => event.what === "deleted")?.atMs ?? 0;
}

function endOf(pod: RunningPod, forwarded: PodEnd["forwarded"], propagationMs: number): EndedPod {
  const fromMs = deletedMs(pod);
  const regular = pod.plan.containers.filter((container) => container.role === "regular").map(({ name }) => name);
  const signalled = pod.events.find((event) => event.what === "SIGTERM" && regular.includes(event.container));
  const releasedMs = signalled?.atMs ?? pod.events.at(-1)?.atMs ?? fromMs;
  return {
    pod: pod.plan.name,
    address: pod.address,
    deletedMs: fromMs,
    events: pod.events,
    forwarded,
    propagationMs,
    summary: summaryOf(pod, releasedMs),
    drainSeconds: Math.round((releasedMs - fromMs) / 10) / 100,
  };
}

/** What the manager reports long after the release is about its own end, as with an app that ignores its signal. */
const REPORT_SLACK_MS = 2_000;

function summaryOf(pod: RunningPod, releasedMs: number): DrainSummary | undefined {
  const untilMs = releasedMs + REPORT_SLACK_MS;
  const lines = pod.events.filter(
    (event) => event.what === "line" && event.container === MANAGER_CONTAINER && event.atMs <= untilMs,
  );
  return drainSummary(lines.map((event) => event.detail));
}
