/** Turns raw readings into one judgement per poll. Pure: time and counters are arguments; the state is what was seen before. */
import type { DrainSettings } from "../contract/drain-settings.ts";
import type { Observation, Reading } from "./observation.ts";

export type Judge = {
  /**
   * @param reading one look at the kernel; `undefined` when it failed
   * @param nowMs monotonic
   * @param ownDials connections the manager itself has opened since it started (a running total)
   * @param ownAccepts connections the manager itself has accepted since it started (a running total)
   */
  readonly observe: (reading: Reading | undefined, nowMs: number, ownDials: number, ownAccepts: number) => Observation;
  /** The peer address of a hook that joined a triggered drain; an address of the Pod itself is never believed. */
  readonly learnKubelet: (address: string) => void;
};

export function createJudge(_settings: DrainSettings): Judge {
  return {
    observe: () => ({ known: false, why: "no look at the sockets yet" }),
    learnKubelet: () => undefined,
  };
}
