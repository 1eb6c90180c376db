/** The run of the relay's benchmark from the first admission to the last: who does what while what is measured. */
import { availableParallelism, loadavg } from "node:os";
import { cpuMicroseconds, firstThreadMicroseconds, residentBytes } from "./process-cost.ts";
import { type Access, accessOf, metricOf, type WebhookPlace } from "./relay-access.ts";
import {
  ADMISSIONS_PER_SECOND,
  admissions,
  type Pair,
  ROUND_SECONDS,
  rounds,
  roundsWithin,
} from "./relay-admissions.ts";
import { type AdmissionRounds, median, type RelayFigures, spreadOf } from "./relay-figures.ts";
import { asked, openHeartbeats, openStreams, type Scene, STREAMS_PER_SECOND, withdraw } from "./relay-scenes.ts";
import { sliceText } from "./relay-slice-text.ts";
import { drainingPods, NAMESPACES, PODS, SLICES } from "./relay-world.ts";

/** Slices written in a second, each with one Pod withdrawn. */
const EVENTS_PER_SECOND = 100;
const WARM_UP = 10_000;
const QUIET_ROUNDS = 3;
const SHARE_SECONDS = 10;
/** More than have to wait for the relay alone in a rollout that goes well. */
const HEARTBEATS = 500;
/** The relay keeps watching a namespace for a while after its last Pod. */
const LEFT_MS = 45_000;

export type Bench = {
  readonly scene: Scene;
  readonly place: WebhookPlace;
  readonly admitting: Pair;
  readonly say: (what: string) => void;
};

export async function measure(bench: Bench, streams: number): Promise<RelayFigures> {
  const { scene, place, admitting, say } = bench;
  const { pid } = admitting.here;
  const loadBefore = loadavg()[0] ?? 0;
  const access = await accessOf(place);
  for (const each of [admitting.here, admitting.aside]) await admissions(each, WARM_UP, 0);
  const quiet = await rounds(admitting, QUIET_ROUNDS);
  const idle = residentBytes(pid);

  const pods = drainingPods(streams);
  say(`${streams} streams begin`);
  const opened = await open(bench, access, pods);
  const openBytes = residentBytes(pid);
  const relayHeap = await metricOf(place, "lastcall_relay_heap_used_bytes");
  say("streams are open, nothing changes");
  const openShare = await shareOf(pid);
  say(`${HEARTBEATS} more wait for nothing else`);
  const thousandHeartbeatsShare = await heartbeatShare(bench, access, openShare);

  // A fifth of the Pods alone, three fifths beside admissions, a fifth all at once.
  const fifths = (wanted: readonly number[]) => pods.filter((_pod, index) => wanted.includes(index % 5));
  say("slices change");
  const alone = await changeAlone(bench, fifths([0]), openShare);
  say("slices change beside admissions");
  const beside = fifths([1, 2, 3]);
  const [besideTook, during] = await Promise.all([
    withdraw(scene, { pods: beside, perSecond: EVENTS_PER_SECOND }),
    rounds(admitting, roundsWithin(beside.length / EVENTS_PER_SECOND)),
  ]);
  say("the others' slices change at once");
  const burstMs = performance.now();
  const burstTook = await withdraw(scene, { pods: fifths([4]), perSecond: 0 });
  const burstSeconds = (performance.now() - burstMs) / 1_000;
  const told = residentBytes(pid);
  const { broken, why } = await asked(scene);

  say("everyone leaves");
  for (const asker of scene.askers) await asker.stop();
  await pause(LEFT_MS);
  const left = residentBytes(pid);
  const quietAgain = await rounds(admitting, QUIET_ROUNDS);
  const admittedWhileOpening = opened.rounds.here.length * ROUND_SECONDS * ADMISSIONS_PER_SECOND;
  const admittingMs = median(quiet.here.map(({ ownCpuMs }) => ownCpuMs)) * admittedWhileOpening;
  return {
    cores: availableParallelism(),
    loadAverage: { before: loadBefore, after: loadavg()[0] ?? 0 },
    world: { endpoints: PODS, slices: SLICES, namespaces: NAMESPACES, sliceBytes: sliceText(0, 1, new Set()).length },
    streams,
    openingSeconds: opened.seconds,
    relayHeap,
    memory: { idle, open: openBytes, told, left },
    cpu: {
      openShare,
      thousandHeartbeatsShare,
      perEventMs: alone.perEventMs,
      events: alone.events,
      perStreamMs: (opened.cpuMs - admittingMs) / streams,
      perStreamBesideMs: (opened.ownCpuMs - admittingMs) / streams,
    },
    told: { beside: spreadOf(besideTook), alone: spreadOf(alone.took), burst: spreadOf(burstTook) },
    burstSeconds,
    admissions: {
      perSecond: ADMISSIONS_PER_SECOND,
      quiet: both(quiet, quietAgain),
      opening: opened.rounds,
      events: during,
    },
    eventsPerSecond: EVENTS_PER_SECOND,
    broken,
    why,
  };
}

type Opened = {
  readonly seconds: number;
  readonly cpuMs: number;
  readonly ownCpuMs: number;
  readonly rounds: AdmissionRounds;
};

async function open({ scene, admitting }: Bench, access: Access, pods: readonly number[]): Promise<Opened> {
  const { pid } = admitting.here;
  const [startMs, startCpu, startOwn] = [performance.now(), cpuMicroseconds(pid), firstThreadMicroseconds(pid)];
  const [seconds, opening] = await Promise.all([
    openStreams(scene, access, pods).then(() => (performance.now() - startMs) / 1_000),
    rounds(admitting, roundsWithin(pods.length / STREAMS_PER_SECOND)),
  ]);
  const ownCpuMs = (firstThreadMicroseconds(pid) - startOwn) / 1_000;
  return { seconds, cpuMs: (cpuMicroseconds(pid) - startCpu) / 1_000, ownCpuMs, rounds: opening };
}

/** For a thousand, without what the other streams take. */
async function heartbeatShare({ scene, admitting }: Bench, access: Access, openShare: number): Promise<number> {
  const otherProcesses = drainingPods(HEARTBEATS).map((pod) => pod + 1);
  const end = await openHeartbeats(scene.port, access, otherProcesses);
  try {
    return ((await shareOf(admitting.here.pid)) - openShare) * (1_000 / HEARTBEATS);
  } finally {
    await end();
  }
}

type Alone = { readonly took: readonly number[]; readonly perEventMs: number; readonly events: number };

async function changeAlone(
  { scene, place, admitting }: Bench,
  pods: readonly number[],
  openShare: number,
): Promise<Alone> {
  const { pid } = admitting.here;
  const before = await sliceEvents(place);
  const [startMs, startCpu] = [performance.now(), cpuMicroseconds(pid)];
  const took = await withdraw(scene, { pods, perSecond: EVENTS_PER_SECOND });
  const cpuMs = (cpuMicroseconds(pid) - startCpu) / 1_000 - openShare * (performance.now() - startMs);
  const events = (await sliceEvents(place)) - before;
  return { took, perEventMs: cpuMs / events, events };
}

/** Of one core, for as long as it takes to be sure. */
async function shareOf(pid: number): Promise<number> {
  const [startMs, startCpu] = [performance.now(), cpuMicroseconds(pid)];
  await pause(SHARE_SECONDS * 1_000);
  return (cpuMicroseconds(pid) - startCpu) / 1_000 / (performance.now() - startMs);
}

function sliceEvents(place: WebhookPlace): Promise<number> {
  return metricOf(place, "lastcall_relay_slice_events_total");
}

function both(first: AdmissionRounds, second: AdmissionRounds): AdmissionRounds {
  return { here: [...first.here, ...second.here], aside: [...first.aside, ...second.aside] };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
