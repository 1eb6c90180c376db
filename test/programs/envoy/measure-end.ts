/** Deletes a Pod while its clients continue, and measures its drain. */
import { get } from "node:http";
import { DEFAULT_SETTINGS } from "../../../src/contract/drain-settings.ts";
import { realClock } from "../../../src/demo/clock.ts";
import type { PodEvent } from "../../../src/demo/pods/running-pod.ts";
import { podEndOf } from "../../../src/demo/report/pod-end.ts";
import { TOKEN } from "../../injection/injector-inputs.ts";
import type { EnvoyResult } from "./envoy-result.ts";
import { type Clients, DELAY_MS, type DueFacts, QUIET_MS } from "./envoy-scenario.ts";
import type { TestPod } from "./testbed.ts";

export type EndParts = {
  readonly testPod: TestPod;
  readonly clients: Clients;
  readonly container: string;
  readonly propagationMs: number;
  readonly dueMs: (facts: DueFacts) => number;
};

export type MeasuredEnd = Omit<EnvoyResult, "kind" | "system" | "scenario" | "version" | "manager" | "refused" | "cut">;

/** Every client detects within this time that the proxy has stopped. */
const CLOSE_NOTICE_MS = 500;

/** @returns the measured drain with all failed requests, and the number of those that failed before the hook's response */
export async function measureEnd(parts: EndParts): Promise<{ end: MeasuredEnd; failuresBeforeHookResponse: number }> {
  const { testPod, clients, container } = parts;
  const { pod } = testPod;
  const lag = startLagLog(testPod.waitedMs);
  const deletedMs = realClock.nowMs();
  const removal = pod.remove();
  const withdrawal = realClock.wait(parts.propagationMs).then(clients.withdraw);
  const hookStatus = await callHook(pod.address, container);
  const failuresBeforeHookResponse = clients.counts.failures.length;
  const managerPeakKib = testPod.managerPeakKib();
  const lastTrafficMs = clients.lastTrafficMs();
  await removal;
  lag.stop();
  await withdrawal;
  await realClock.wait(CLOSE_NOTICE_MS);
  await clients.stop();
  const { triggeredMs, summary } = podEndOf(pod, {
    forwardedConnections: [],
    propagationMs: 0,
    slicesWithdrawnMs: undefined,
  });
  const releasedMs = eventTimeMs(pod.events, container, "SIGTERM");
  const delayEndMs = triggeredMs + DELAY_MS;
  const dueMs = parts.dueMs({ triggeredMs, lastTrafficMs });
  const end = {
    releasedSeconds: toSeconds(releasedMs - deletedMs),
    afterTrafficSeconds: toSeconds(Math.max(0, releasedMs - Math.max(deletedMs, lastTrafficMs))),
    overWaitSeconds: toSeconds(releasedMs - dueMs),
    stayedSeconds: toSeconds(Math.max(0, lastTrafficMs - delayEndMs - lag.between(delayEndMs, lastTrafficMs))),
    // `triggeredMs` is the time at which this process read the manager's log line, which may be late. After the trigger, only
    // lag near the due time can delay the stop signal.
    lagSeconds: toSeconds(lag.between(deletedMs, triggeredMs) + lag.between(dueMs - QUIET_MS, releasedMs)),
    hookStatus,
    hooksFailed: pod.events.filter(({ type }) => type === "FailedPreStopHook" || type === "hook-overran").length,
    answered: clients.counts.answered,
    failures: clients.counts.failures,
    outcome: summary?.outcome ?? "",
    why: summary?.why ?? "",
    managerPeakKib,
  };
  return { end, failuresBeforeHookResponse };
}

export function eventTimeMs(events: readonly PodEvent[], container: string, type: PodEvent["type"]): number {
  return events.find((event) => event.container === container && event.type === type)?.atMs ?? Number.NaN;
}

/** Calls a container's hook in addition to the simulated kubelet, which does not record the status. @returns -1 without a response */
function callHook(host: string, container: string): Promise<number> {
  return new Promise((done) => {
    get({ host, port: DEFAULT_SETTINGS.port, path: `/${TOKEN}/prestop/${container}`, agent: false }, (response) => {
      response.resume().on("end", () => done(response.statusCode ?? -1));
    }).on("error", () => done(-1));
  });
}

export function toSeconds(ms: number): number {
  return Math.round(ms) / 1_000;
}

const TICK_MS = 20;
/** Usual delay of timers on an idle machine. */
const TIMER_JITTER_MS = 3;

type LagLog = {
  readonly between: (fromMs: number, toMs: number) => number;
  readonly stop: () => void;
};

type Tick = { readonly atMs: number; readonly lateMs: number; readonly waitedMs: number };

/**
 * Records scheduling delays: late timers in this process, and the time that the measured processes were runnable but not
 * running. The checks subtract these delays from the drain's over-wait.
 *
 * @param waitedMs total waiting time of the measured processes since their start; decreases when one of them exits
 */
function startLagLog(waitedMs: () => number): LagLog {
  const ticks: Tick[] = [];
  let dueMs = performance.now() + TICK_MS;
  let previousWaitedMs = waitedMs();
  const recordTick = () => {
    const atMs = performance.now();
    const currentWaitedMs = waitedMs();
    const lateMs = atMs - dueMs > TIMER_JITTER_MS ? atMs - dueMs : 0;
    ticks.push({ atMs, lateMs, waitedMs: Math.max(0, currentWaitedMs - previousWaitedMs) });
    previousWaitedMs = currentWaitedMs;
    dueMs = performance.now() + TICK_MS;
  };
  const timer = setInterval(recordTick, TICK_MS);
  return {
    // A tick that overlaps the start or the end of the interval counts in full, because its delay may lie in the interval.
    between: (fromMs, toMs) =>
      ticks
        .filter(({ atMs, lateMs }) => atMs >= fromMs && atMs - lateMs - TICK_MS <= toMs)
        .reduce((sum, tick) => sum + tick.lateMs + tick.waitedMs, 0),
    stop: () => clearInterval(timer),
  };
}
