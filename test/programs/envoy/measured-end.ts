/** Ends a Pod while its clients go on, and measures what every case of a proxy asks of that end. */
import { get } from "node:http";
import { DEFAULT_SETTINGS } from "../../../src/contract/drain-settings.ts";
import { realClock } from "../../../src/demo/clock.ts";
import type { PodEvent } from "../../../src/demo/pods/running-pod.ts";
import { endOf } from "../../../src/demo/report/pod-end.ts";
import { TOKEN } from "../../injection/given.ts";
import type { EnvoyResult } from "./envoy-result.ts";
import { type Clients, DELAY_MS, type DueFacts, QUIET_MS } from "./scene.ts";
import type { StagedPod } from "./stage.ts";

export type Ending = {
  readonly staged: StagedPod;
  readonly clients: Clients;
  /** Its hook is called, and its stop signal is the release. */
  readonly container: string;
  readonly lagMs: number;
  readonly dueMs: (facts: DueFacts) => number;
};

export type MeasuredEnd = Omit<EnvoyResult, "kind" | "system" | "scene" | "version" | "manager" | "refused" | "cut">;

/** For clients that were cut by the end of the proxy to notice. */
const AFTERWARDS_MS = 500;

/** @returns the end, with all failures, and how many of them there were at the release */
export async function measureEnd(ending: Ending): Promise<{ end: MeasuredEnd; failedBefore: number }> {
  const { staged, clients, container } = ending;
  const { pod } = staged;
  const lag = startLagLog(staged.waitedMs);
  const deletedMs = realClock.nowMs();
  const gone = pod.remove();
  const withdrawal = realClock.wait(ending.lagMs).then(clients.withdraw);
  const hook = await hookStatus(pod.address, container);
  const failedBefore = clients.tally.failures.length;
  const managerPeakKib = staged.managerPeakKib();
  const lastMs = clients.lastMs();
  await gone;
  lag.stop();
  await withdrawal;
  await realClock.wait(AFTERWARDS_MS);
  await clients.stop();
  const { triggeredMs, summary } = endOf(pod, { forwarded: [], propagationMs: 0, slicesWithdrawnMs: undefined });
  const releasedMs = eventMs(pod.events, container, "SIGTERM");
  const toldMs = triggeredMs + DELAY_MS;
  const dueMs = ending.dueMs({ triggeredMs, lastMs });
  const end = {
    releasedSeconds: seconds(releasedMs - deletedMs),
    afterTrafficSeconds: seconds(Math.max(0, releasedMs - Math.max(deletedMs, lastMs))),
    overWaitSeconds: seconds(releasedMs - dueMs),
    stayedSeconds: seconds(Math.max(0, lastMs - toldMs - lag.between(toldMs, lastMs))),
    // The trigger is known by a line of the log that may be read late; what came later moves the end only near it.
    lagSeconds: seconds(lag.between(deletedMs, triggeredMs) + lag.between(dueMs - QUIET_MS, releasedMs)),
    hookStatus: hook,
    hooksFailed: pod.events.filter(({ type }) => type === "FailedPreStopHook" || type === "hook-overran").length,
    answered: clients.tally.answered,
    failures: clients.tally.failures,
    outcome: summary?.outcome ?? "",
    why: summary?.why ?? "",
    managerPeakKib,
  };
  return { end, failedBefore };
}

export function eventMs(events: readonly PodEvent[], container: string, what: PodEvent["type"]): number {
  return events.find((event) => event.container === container && event.type === what)?.atMs ?? Number.NaN;
}

/** A second call of a container's hook, beside the kubelet's, which never looks at the status. -1: no answer. */
function hookStatus(host: string, container: string): Promise<number> {
  return new Promise((done) => {
    get({ host, port: DEFAULT_SETTINGS.port, path: `/${TOKEN}/prestop/${container}`, agent: false }, (answer) => {
      answer.resume().on("end", () => done(answer.statusCode ?? -1));
    }).on("error", () => done(-1));
  });
}

export function seconds(ms: number): number {
  return Math.round(ms) / 1_000;
}

const BEAT_MS = 20;
/** Timers are that late on an idle machine. */
const USUAL_MS = 3;

type LagLog = {
  /** All that the time between has cost, in milliseconds. */
  readonly between: (fromMs: number, toMs: number) => number;
  readonly stop: () => void;
};

type Beat = { readonly atMs: number; readonly lateMs: number; readonly waitedMs: number };

/**
 * When the machine kept someone from his turn: the one who measures, whose clock then ticks late, and those he measures,
 * whom the kernel saw ready and waiting. What a drain lasts longer by that is not the drain's.
 *
 * @param waitedMs of those who are measured, since they started; it falls when one of them is gone
 */
function startLagLog(waitedMs: () => number): LagLog {
  const beats: Beat[] = [];
  let dueMs = performance.now() + BEAT_MS;
  let before = waitedMs();
  const beat = () => {
    const atMs = performance.now();
    const now = waitedMs();
    const lateMs = atMs - dueMs > USUAL_MS ? atMs - dueMs : 0;
    beats.push({ atMs, lateMs, waitedMs: Math.max(0, now - before) });
    before = now;
    dueMs = performance.now() + BEAT_MS;
  };
  const timer = setInterval(beat, BEAT_MS);
  return {
    // A beat that lies across the edge counts whole: no one knows which part of it hurt.
    between: (fromMs, toMs) =>
      beats
        .filter(({ atMs, lateMs }) => atMs >= fromMs && atMs - lateMs - BEAT_MS <= toMs)
        .reduce((sum, one) => sum + one.lateMs + one.waitedMs, 0),
    stop: () => clearInterval(timer),
  };
}
