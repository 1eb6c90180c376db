/** Runs the relay benchmark: opens streams, changes slices and admits Pods, alone and at the same time. */
import { availableParallelism, loadavg } from "node:os";
import { readCpuMicroseconds, readMainThreadMicroseconds, readResidentBytes } from "./process-cost.ts";
import { obtainRelayAccess, type RelayAccess, readMetric, type WebhookEndpoint } from "./relay-access.ts";
import {
  ADMISSIONS_PER_SECOND,
  measureRounds,
  ROUND_SECONDS,
  roundsWithin,
  sendAdmissions,
  type WebhookPair,
} from "./relay-admissions.ts";
import { drainingPods, NAMESPACES, PODS, SLICES } from "./relay-cluster.ts";
import { type AdmissionRounds, median, type RelayResults, spreadOf } from "./relay-results.ts";
import {
  openHeartbeats,
  openStreams,
  type Processes,
  STREAMS_PER_SECOND,
  streamResults,
  withdraw,
} from "./relay-scenarios.ts";
import { sliceText } from "./relay-slice-text.ts";

const CHANGES_PER_SECOND = 100;
const WARM_UP_REQUESTS = 10_000;
const ROUNDS_WITHOUT_DRAINS = 3;
const CPU_SAMPLE_SECONDS = 10;
/** Number of Pods that wait only for the relay; a rollout without failures has fewer such Pods. */
const HEARTBEAT_PODS = 500;
/** After this time the relay has stopped the watches of a namespace without draining Pods. */
const WATCH_STOP_WAIT_MS = 45_000;

export type Bench = {
  readonly processes: Processes;
  readonly webhook: WebhookEndpoint;
  readonly webhooks: WebhookPair;
  readonly print: (line: string) => void;
};

export async function measure(bench: Bench, streams: number): Promise<RelayResults> {
  const { processes, webhook, webhooks, print } = bench;
  const { pid } = webhooks.draining;
  const loadBefore = loadavg()[0] ?? 0;
  const access = await obtainRelayAccess(webhook);
  for (const target of [webhooks.draining, webhooks.control]) await sendAdmissions(target, WARM_UP_REQUESTS, 0);
  const quietBeforeDrains = await measureRounds(webhooks, ROUNDS_WITHOUT_DRAINS);
  const idleBytes = readResidentBytes(pid);

  const pods = drainingPods(streams);
  print(`${streams} streams open`);
  const openingResults = await openAndMeasure(bench, access, pods);
  const openBytes = readResidentBytes(pid);
  const relayHeap = await readMetric(webhook, "lastcall_relay_heap_used_bytes");
  print("streams are open, no changes");
  const openShare = await measureCpuShare(pid);
  print(`${HEARTBEAT_PODS} more Pods wait only for the relay`);
  const thousandHeartbeatsShare = await measureHeartbeatShare(bench, access, openShare);

  const podsInFifths = (parts: readonly number[]) => pods.filter((_pod, index) => parts.includes(index % 5));
  print("slices change");
  const resultsWithoutAdmissions = await changeWithoutAdmissions(bench, podsInFifths([0]), openShare);
  print("slices change during admissions");
  const podsDuringAdmissions = podsInFifths([1, 2, 3]);
  const [latenciesDuringAdmissions, duringChanges] = await Promise.all([
    withdraw(processes, { pods: podsDuringAdmissions, perSecond: CHANGES_PER_SECOND }),
    measureRounds(webhooks, roundsWithin(podsDuringAdmissions.length / CHANGES_PER_SECOND)),
  ]);
  print("all remaining slices change at once");
  const burstStartMs = performance.now();
  const burstMs = await withdraw(processes, { pods: podsInFifths([4]), perSecond: 0 });
  const burstSeconds = (performance.now() - burstStartMs) / 1_000;
  const withdrawnBytes = readResidentBytes(pid);
  const { broken, brokenReason } = await streamResults(processes);

  print("closing all streams");
  for (const client of processes.clients) await client.stop();
  await pause(WATCH_STOP_WAIT_MS);
  const closedBytes = readResidentBytes(pid);
  const quietAfterDrains = await measureRounds(webhooks, ROUNDS_WITHOUT_DRAINS);
  const admissionsWhileOpening = openingResults.rounds.draining.length * ROUND_SECONDS * ADMISSIONS_PER_SECOND;
  const admissionMs =
    median(quietBeforeDrains.draining.map(({ mainThreadMs }) => mainThreadMs)) * admissionsWhileOpening;
  return {
    cores: availableParallelism(),
    loadAverage: { before: loadBefore, after: loadavg()[0] ?? 0 },
    cluster: { endpoints: PODS, slices: SLICES, namespaces: NAMESPACES, sliceBytes: sliceText(0, 1, new Set()).length },
    streams,
    openingSeconds: openingResults.seconds,
    relayHeap,
    memory: { idle: idleBytes, open: openBytes, withdrawn: withdrawnBytes, closed: closedBytes },
    cpu: {
      openShare,
      thousandHeartbeatsShare,
      perEventMs: resultsWithoutAdmissions.perEventMs,
      events: resultsWithoutAdmissions.events,
      perStreamMs: (openingResults.cpuMs - admissionMs) / streams,
      perStreamMainMs: (openingResults.mainThreadMs - admissionMs) / streams,
    },
    withdrawalMs: {
      beside: spreadOf(latenciesDuringAdmissions),
      alone: spreadOf(resultsWithoutAdmissions.latenciesMs),
      burst: spreadOf(burstMs),
    },
    burstSeconds,
    admissions: {
      perSecond: ADMISSIONS_PER_SECOND,
      quiet: concatRounds(quietBeforeDrains, quietAfterDrains),
      opening: openingResults.rounds,
      events: duringChanges,
    },
    eventsPerSecond: CHANGES_PER_SECOND,
    broken,
    brokenReason,
  };
}

type OpeningResults = {
  readonly seconds: number;
  readonly cpuMs: number;
  readonly mainThreadMs: number;
  readonly rounds: AdmissionRounds;
};

async function openAndMeasure(
  { processes, webhooks }: Bench,
  access: RelayAccess,
  pods: readonly number[],
): Promise<OpeningResults> {
  const { pid } = webhooks.draining;
  const [startMs, startCpu, startMain] = [performance.now(), readCpuMicroseconds(pid), readMainThreadMicroseconds(pid)];
  const [seconds, opening] = await Promise.all([
    openStreams(processes, access, pods).then(() => (performance.now() - startMs) / 1_000),
    measureRounds(webhooks, roundsWithin(pods.length / STREAMS_PER_SECOND)),
  ]);
  const mainThreadMs = (readMainThreadMicroseconds(pid) - startMain) / 1_000;
  return { seconds, cpuMs: (readCpuMicroseconds(pid) - startCpu) / 1_000, mainThreadMs, rounds: opening };
}

async function measureHeartbeatShare(
  { processes, webhooks }: Bench,
  access: RelayAccess,
  openShare: number,
): Promise<number> {
  const heartbeatPods = drainingPods(HEARTBEAT_PODS).map((pod) => pod + 1);
  const end = await openHeartbeats(processes.port, access, heartbeatPods);
  try {
    return ((await measureCpuShare(webhooks.draining.pid)) - openShare) * (1_000 / HEARTBEAT_PODS);
  } finally {
    await end();
  }
}

type ChangeResults = { readonly latenciesMs: readonly number[]; readonly perEventMs: number; readonly events: number };

async function changeWithoutAdmissions(
  { processes, webhook, webhooks }: Bench,
  pods: readonly number[],
  openShare: number,
): Promise<ChangeResults> {
  const { pid } = webhooks.draining;
  const eventsBefore = await readSliceEvents(webhook);
  const [startMs, startCpu] = [performance.now(), readCpuMicroseconds(pid)];
  const latenciesMs = await withdraw(processes, { pods, perSecond: CHANGES_PER_SECOND });
  const cpuMs = (readCpuMicroseconds(pid) - startCpu) / 1_000 - openShare * (performance.now() - startMs);
  const events = (await readSliceEvents(webhook)) - eventsBefore;
  return { latenciesMs, perEventMs: cpuMs / events, events };
}

async function measureCpuShare(pid: number): Promise<number> {
  const [startMs, startCpu] = [performance.now(), readCpuMicroseconds(pid)];
  await pause(CPU_SAMPLE_SECONDS * 1_000);
  return (readCpuMicroseconds(pid) - startCpu) / 1_000 / (performance.now() - startMs);
}

function readSliceEvents(webhook: WebhookEndpoint): Promise<number> {
  return readMetric(webhook, "lastcall_relay_slice_events_total");
}

function concatRounds(first: AdmissionRounds, second: AdmissionRounds): AdmissionRounds {
  return { draining: [...first.draining, ...second.draining], control: [...first.control, ...second.control] };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
