/** Defines the results of one build of the manager. */
import type { Build, BuildName } from "./manager-builds.ts";
import type { Memory } from "./manager-cost.ts";
import type { DrainMeasurement } from "./manager-scenarios.ts";

export type BuildResults = {
  readonly build: BuildName;
  readonly bytes: Build["bytes"];
  readonly strippedBytes: Build["strippedBytes"];
  readonly threads: number;
  readonly idle: Memory;
  readonly idleSwitches: number;
  readonly startMs: number;
  readonly manager?: { readonly held: Memory; readonly called: Memory; readonly drains: readonly DrainMeasurement[] };
};
