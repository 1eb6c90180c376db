/** Builds drain states for each phase, with the trigger at 0. */
import type {
  Done,
  Drain,
  Draining,
  DrainResult,
  DrainState,
  Holding,
  LastCount,
  LastSample,
  Withdrawing,
} from "../../src/manager/drain/drain-state.ts";
import { idleState, NO_COUNT, NO_SAMPLE } from "../../src/manager/drain/drain-state.ts";

/** A drain with delays of 5 s and a drain timeout of 60 s. */
export const DRAIN: Drain = { trigger: "hook", triggeredAtMs: 0, deadlineMs: 65_000 };

export const RESULT: DrainResult = {
  ...{ outcome: "drained", why: "It was quiet.", observation: NO_SAMPLE.observation },
  ...{ deregistrationFromMs: 5_000, drainingFromMs: 5_000, holdingFromMs: 10_000 },
  ...{ wasDraining: true, openAtDraining: 0, wasStillListed: false },
};

export type Parts = {
  readonly drain?: Partial<Drain>;
  readonly sample?: Partial<LastSample>;
  readonly count?: Partial<LastCount>;
  readonly stateOverrides?: Partial<DrainState>;
};

export const withdrawing = (parts: Parts = {}, overrides: Partial<Withdrawing> = {}): DrainState =>
  inPhase({ name: "withdrawing", drain: { ...DRAIN, ...parts.drain }, deregistrationFromMs: -1, ...overrides }, parts);

export function drainingPhase(overrides: Partial<Draining> = {}): Draining {
  const times = { deregistrationFromMs: 5_000, drainingFromMs: 5_000 };
  const cycling = { connectionCount: 0, sinceMs: 5_000, fewestOutstanding: -1 };
  return { name: "draining", drain: DRAIN, ...times, openAtDraining: 0, wasStillListed: false, cycling, ...overrides };
}

export const draining = (parts: Parts = {}, overrides: Partial<Draining> = {}): DrainState =>
  inPhase(drainingPhase({ drain: { ...DRAIN, ...parts.drain }, ...overrides }), parts);

export const holding = (parts: Parts = {}, overrides: Partial<Holding> = {}): DrainState =>
  inPhase({ name: "holding", drain: DRAIN, result: RESULT, othersGoneSinceMs: -1, ...overrides }, parts);

export const done = (overrides: Partial<Done> = {}): DrainState =>
  inPhase({ name: "done", drain: DRAIN, result: RESULT, doneAtMs: 11_000, rearmAtMs: -1, ...overrides }, {});

function inPhase(phase: DrainState["phase"], { sample, count, stateOverrides }: Parts): DrainState {
  const state = { ...idleState([]), ...stateOverrides };
  return { ...state, phase, sample: { ...NO_SAMPLE, ...sample }, count: { ...NO_COUNT, ...count } };
}
