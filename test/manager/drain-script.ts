/** Plays timed events, timers and samples of a simulated Pod through the drain machine. */
import { DEFAULT_SETTINGS, type DrainSettings } from "../../src/contract/drain-settings.ts";
import type { DrainAction, DrainEvent, RelayReported, Sample } from "../../src/manager/drain/drain-event.ts";
import { step } from "../../src/manager/drain/drain-machine.ts";
import { drainReportOf } from "../../src/manager/drain/drain-report-of.ts";
import { type DrainState, drainOf, type EndpointState, idleState } from "../../src/manager/drain/drain-state.ts";
import type { Observation } from "../../src/manager/traffic/observation.ts";
import { type OtherProcesses, UNKNOWN_PROCESSES } from "../../src/manager/traffic/other-processes.ts";

export type ObservedPod = Extract<Observation, { known: true }>;

/** A Pod with a listener and without connections. */
export const QUIET: ObservedPod = {
  known: true,
  hasTcpListener: true,
  hasUdp: false,
  openConnections: 0,
  activity: "quiet",
  lastEvidenceMs: -1,
  evidenceSource: "netlink",
  left: [],
  leftTotal: 0,
  untracked: 0,
  cycling: {
    connectionCount: 0,
    outstandingResponses: 0,
    othersActivity: "quiet",
    othersEvidenceMs: -1,
    lastArrivalMs: -1,
  },
};

export const UNKNOWN_OBSERVATION: Observation = { known: false, why: "the dump failed", blind: false };

export type PodAt = (nowMs: number) => Observation;

export function busyUntil(endMs: number): PodAt {
  return (nowMs) =>
    nowMs < endMs
      ? { ...QUIET, openConnections: 1, activity: "busy", lastEvidenceMs: nowMs, left: [CLIENT], leftTotal: 1 }
      : { ...QUIET, lastEvidenceMs: endMs };
}

const CLIENT = { local: "10.0.0.5:8080", peer: "10.0.0.9:40000", ageMs: 64_000, state: "ESTABLISHED" };

export const ONE_APP: DrainSettings = { ...DEFAULT_SETTINGS, hooks: [{ container: "app", role: "app" }] };

export type PlayedDrain = {
  readonly state: DrainState;
  readonly summary: Summary;
  readonly actions: readonly PlayedAction[];
  readonly answerTimesMs: ReadonlyMap<number, number>;
  readonly wakeCount: number;
};

export type PlayedAction = DrainAction & { readonly atMs: number };

export type Summary = ReturnType<typeof summaryOf>;

export function summaryOf(state: DrainState) {
  const { phase, outcome, trigger, why } = drainReportOf(state, 0, -1, 0);
  const { triggeredAtMs = -1, deadlineMs = -1 } = drainOf(state.phase) ?? {};
  const { holds, endingContainers } = state.hooks;
  const { isStopRequested, sample } = state;
  return { phase, outcome, trigger, why, triggeredAtMs, deadlineMs, holds, endingContainers, isStopRequested, sample };
}

export type Script = {
  readonly settings?: DrainSettings;
  readonly events: readonly DrainEvent[];
  readonly pod?: PodAt;
  readonly otherProcesses?: (nowMs: number) => OtherProcesses;
  /** Number of sockets that every sample reads. */
  readonly sockets?: number | ((nowMs: number) => number);
  readonly lateMs?: number;
  readonly active?: (nowMs: number) => number;
  /** Duration of the count that the driver starts at the given time. */
  readonly countMs?: (nowMs: number) => number;
  readonly containersWithOriginalHook?: readonly string[];
  readonly originalHookMs?: number;
  readonly untilMs?: number;
};

export function play(script: Script): PlayedDrain {
  const settings = script.settings ?? ONE_APP;
  let state = idleState(script.containersWithOriginalHook ?? []);
  let wake: { readonly wakeAtMs: number; readonly sampleAtMs: number } = { wakeAtMs: -1, sampleAtMs: -1 };
  let wakeCount = 0;
  let nowMs = 0;
  const queue = [...script.events];
  const actions: PlayedAction[] = [];
  const answerTimesMs = new Map<number, number>();
  const applyEvent = (event: DrainEvent) => {
    const next = step(settings, state, event);
    state = next.state;
    wake = next;
    for (const action of next.actions) {
      actions.push({ ...action, atMs: nowMs });
      if (action.kind === "answer") answerTimesMs.set(action.holdId, nowMs);
      queue.push(...followUpEvents(script, action, nowMs));
    }
    queue.sort((a, b) => a.nowMs - b.nowMs);
  };
  queue.sort((a, b) => a.nowMs - b.nowMs);
  for (let turns = 0; turns < 20_000; turns += 1) {
    const event = queue[0];
    const dueMs = wake.wakeAtMs < 0 ? Number.POSITIVE_INFINITY : Math.max(nowMs, wake.wakeAtMs + (script.lateMs ?? 0));
    if (event !== undefined && event.nowMs <= dueMs) {
      queue.shift();
      nowMs = Math.max(nowMs, event.nowMs);
      applyEvent({ ...event, nowMs });
    } else if (event === undefined && isFinished(script, state.phase.name, dueMs)) {
      return { state, summary: summaryOf(state), actions, answerTimesMs, wakeCount };
    } else {
      nowMs = dueMs;
      wakeCount += 1;
      applyEvent({ kind: "tick", nowMs, sample: sampleOf(script, nowMs, wake.sampleAtMs) });
    }
  }
  throw new Error(`the drain machine did not finish; phase ${state.phase.name} at ${nowMs}`);
}

/** Without `untilMs` the run ends with the drain. */
function isFinished(script: Script, phase: string, dueMs: number): boolean {
  if (dueMs === Number.POSITIVE_INFINITY) return true;
  return script.untilMs === undefined ? phase === "done" : dueMs > script.untilMs;
}

function sampleOf(script: Script, nowMs: number, sampleAtMs: number): Sample | undefined {
  if (sampleAtMs < 0 || nowMs < sampleAtMs) return undefined;
  const observation = script.pod === undefined ? QUIET : script.pod(nowMs);
  const otherProcesses = script.otherProcesses?.(nowMs) ?? UNKNOWN_PROCESSES;
  const socketCount = typeof script.sockets === "function" ? script.sockets(nowMs) : (script.sockets ?? 0);
  return { observation, otherProcesses, socketCount };
}

function followUpEvents(script: Script, action: DrainAction, nowMs: number): DrainEvent[] {
  if (action.kind === "count-active") {
    const countedMs = nowMs + (script.countMs?.(nowMs) ?? 1);
    return [{ kind: "active-counted", nowMs: countedMs, active: script.active?.(nowMs) ?? -1, hadTraffic: false }];
  }
  if (action.kind !== "run-chained-hook") return [];
  return [
    { kind: "chained-hook-finished", nowMs: nowMs + (script.originalHookMs ?? 100), container: action.container },
  ];
}

export const hook = (nowMs: number, holdId: number, container = "app"): DrainEvent => ({
  kind: "hook-called",
  nowMs,
  holdId,
  container,
  peer: "10.0.0.1",
});

/** A call of the manager's own preStop hook. */
export const ownHook = (nowMs: number, holdId: number): DrainEvent => ({ kind: "drain-requested", nowMs, holdId });

/** A status from the relay or, with `isFromRelay: false`, from the relay's client. */
export const relayReported = (
  nowMs: number,
  endpointState: EndpointState,
  terminating: boolean,
  more: Partial<Pick<RelayReported, "graceSeconds" | "reason" | "isGraceful" | "isFromRelay">> = {},
): DrainEvent => ({
  ...{ kind: "relay-reported", nowMs, endpointState, terminating },
  ...{ graceSeconds: -1, reason: "", isGraceful: false, isFromRelay: true, ...more },
});

export const sigterm = (nowMs: number): DrainEvent => ({ kind: "sigterm", nowMs });
