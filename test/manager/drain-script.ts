/** Plays a drain through the machine: events at times, looks answered from a made-up Pod, every timer honoured. */
import { DEFAULT_SETTINGS, type DrainSettings } from "../../src/contract/drain-settings.ts";
import type { DrainAction, DrainEvent, Look } from "../../src/manager/drain/drain-event.ts";
import { step } from "../../src/manager/drain/drain-machine.ts";
import { type DrainState, idleState, type Offered } from "../../src/manager/drain/drain-state.ts";
import { type Neighbours, UNKNOWN_NEIGHBOURS } from "../../src/manager/traffic/neighbours.ts";
import type { Observation } from "../../src/manager/traffic/observation.ts";

export type SeenPod = Extract<Observation, { known: true }>;

/** A Pod that listens and has nothing to do. */
export const QUIET: SeenPod = {
  known: true,
  hasTcpListener: true,
  hasUdp: false,
  openConnections: 0,
  calm: true,
  untold: false,
  lastEvidenceMs: -1,
  witness: "netlink",
  left: [],
  leftTotal: 0,
  unfollowed: 0,
};

export const UNKNOWN: Observation = { known: false, why: "the dump failed", blind: false };

/** What the Pod looks like at a time. */
export type PodAt = (nowMs: number) => Observation;

/** A connection is busy until the given time. */
export function busyUntil(endMs: number): PodAt {
  return (nowMs) =>
    nowMs < endMs
      ? { ...QUIET, openConnections: 1, calm: false, lastEvidenceMs: nowMs, left: [CLIENT], leftTotal: 1 }
      : { ...QUIET, lastEvidenceMs: endMs };
}

const CLIENT = { local: "10.0.0.5:8080", peer: "10.0.0.9:40000", ageMs: 64_000, state: "ESTABLISHED" };

export const ONE_APP: DrainSettings = { ...DEFAULT_SETTINGS, hooks: [{ container: "app", role: "app" }] };

export type Played = {
  readonly state: DrainState;
  readonly actions: readonly (DrainAction & { readonly atMs: number })[];
  /** When each hold was answered, by its id. */
  readonly answered: ReadonlyMap<number, number>;
  readonly wakes: number;
};

export type Script = {
  readonly settings?: DrainSettings;
  readonly events: readonly DrainEvent[];
  readonly pod?: PodAt;
  readonly neighbours?: (nowMs: number) => Neighbours;
  /** What every look costs. */
  readonly sockets?: number | ((nowMs: number) => number);
  /** Every timer fires this much late. */
  readonly lateMs?: number;
  readonly active?: (nowMs: number) => number;
  /** How long the driver takes for a count that is asked for at that time. */
  readonly countMs?: (nowMs: number) => number;
  readonly chained?: readonly string[];
  readonly chainMs?: number;
  readonly untilMs?: number;
};

export function play(script: Script): Played {
  const settings = script.settings ?? ONE_APP;
  let state = idleState(script.chained ?? []);
  let wake = { wakeAtMs: -1, lookAtMs: -1 };
  let wakes = 0;
  let nowMs = 0;
  const queue = [...script.events];
  const actions: (DrainAction & { atMs: number })[] = [];
  const answered = new Map<number, number>();
  const feed = (event: DrainEvent) => {
    const next = step(settings, state, event);
    state = next.state;
    wake = next;
    for (const action of next.actions) {
      actions.push({ ...action, atMs: nowMs });
      if (action.kind === "answer") answered.set(action.holdId, nowMs);
      queue.push(...consequences(script, action, nowMs));
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
      feed({ ...event, nowMs });
    } else if (event === undefined && isOver(script, state.phase, dueMs)) {
      return { state, actions, answered, wakes };
    } else {
      nowMs = dueMs;
      wakes += 1;
      feed({ kind: "tick", nowMs, look: lookOf(script, nowMs, wake.lookAtMs) });
    }
  }
  throw new Error(`the machine never came to rest; phase ${state.phase} at ${nowMs}`);
}

/** Without a time to play to, a finished drain is the end. */
function isOver(script: Script, phase: string, dueMs: number): boolean {
  if (dueMs === Number.POSITIVE_INFINITY) return true;
  return script.untilMs === undefined ? phase === "done" : dueMs > script.untilMs;
}

function lookOf(script: Script, nowMs: number, lookAtMs: number): Look | undefined {
  if (lookAtMs < 0 || nowMs < lookAtMs) return undefined;
  const observation = script.pod === undefined ? QUIET : script.pod(nowMs);
  const neighbours = script.neighbours?.(nowMs) ?? UNKNOWN_NEIGHBOURS;
  const sockets = typeof script.sockets === "function" ? script.sockets(nowMs) : (script.sockets ?? 0);
  return { observation, neighbours, sockets };
}

/** What the world answers to an action. */
function consequences(script: Script, action: DrainAction, nowMs: number): DrainEvent[] {
  if (action.kind === "count-active") {
    const countedMs = nowMs + (script.countMs?.(nowMs) ?? 1);
    return [{ kind: "active-counted", nowMs: countedMs, active: script.active?.(nowMs) ?? -1, moved: false }];
  }
  if (action.kind !== "perform-chain") return [];
  return [{ kind: "chain-performed", nowMs: nowMs + (script.chainMs ?? 100), container: action.container }];
}

export const hook = (nowMs: number, holdId: number, container = "app"): DrainEvent => ({
  kind: "hook-joined",
  nowMs,
  holdId,
  container,
  peer: "10.0.0.1",
});

/** The manager's own preStop. */
export const ownHook = (nowMs: number, holdId: number): DrainEvent => ({ kind: "drain-asked", nowMs, holdId });

/** A word of the relay's, or with `answered: false` of who asks it. */
export const relaySaid = (
  nowMs: number,
  offered: Offered,
  terminating: boolean,
  more: { readonly graceSeconds?: number; readonly reason?: string; readonly answered?: boolean } = {},
): DrainEvent => ({
  ...{ kind: "relay-said", nowMs, offered, terminating },
  ...{ graceSeconds: -1, reason: "", answered: true, ...more },
});

export const sigterm = (nowMs: number): DrainEvent => ({ kind: "sigterm", nowMs });
