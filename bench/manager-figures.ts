/** All that one run has measured of one build. */
import type { Build, BuildName } from "./manager-builds.ts";
import type { Memory } from "./manager-cost.ts";
import type { Drain } from "./manager-scenes.ts";

export type Figures = {
  readonly build: BuildName;
  readonly bytes: Build["bytes"];
  readonly strippedBytes: Build["strippedBytes"];
  readonly threads: number;
  readonly idle: Memory;
  /** In the time of the run's options. */
  readonly idleSwitches: number;
  readonly startMs: number;
  /** Nothing of this in a program that only waits. */
  readonly manager?: { readonly held: Memory; readonly called: Memory; readonly drains: readonly Drain[] };
};
