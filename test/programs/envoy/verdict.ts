/** What a case must have reached. Pure. */
import type { EnvoyResult } from "./envoy-result.ts";
import type { Scene } from "./scene.ts";

/** What a drain may last longer than its settings ask for. */
const OVER_WAIT_SECONDS = 0.25;
/** Rounding, and the distance of two clocks that were read one after the other. */
const EARLY_SECONDS = 0.1;

/** Every client asks several times a second, and is told with its next answer. */
const STAY_SECONDS = 1;

type Measured = Pick<
  EnvoyResult,
  "hookStatus" | "hooksFailed" | "failures" | "answered" | "overWaitSeconds" | "lagSeconds"
>;

/** @returns what fell short, one sentence each; none where all was reached */
export function shortfalls(scene: Scene, result: EnvoyResult): readonly string[] {
  const { answered, cut, outcome, why, stayedSeconds } = result;
  const stayed = scene.sentAway === true && stayedSeconds > STAY_SECONDS;
  const stays = scene.ends === "deadline";
  const found: readonly (readonly [boolean, string])[] = [
    [answered === 0 && scene.key !== "none", "no one was answered"],
    [outcome !== (stays ? "timeout" : "drained"), `the drain ended as ${outcome}: ${why}`],
    [stayed, `clients stayed for ${stayedSeconds} s after they should have been told`],
    [stays && cut !== 1, `${cut} sessions were cut at the end instead of one`],
  ];
  return [...duringShortfalls(result), ...found.filter(([wrong]) => wrong).map(([, sentence]) => sentence)];
}

/** What holds for every drain: good hooks, no one failed, nothing waited for in vain. */
export function duringShortfalls(measured: Measured): readonly string[] {
  const { hookStatus, hooksFailed, failures, answered, overWaitSeconds, lagSeconds } = measured;
  // Who measured slept for the lag, so that much of the wait is the machine's.
  const allowed = OVER_WAIT_SECONDS + lagSeconds;
  const found: readonly (readonly [boolean, string])[] = [
    [hookStatus !== 200, `the hook was answered ${hookStatus}`],
    [hooksFailed > 0, `${hooksFailed} hooks failed`],
    [failures.length > 0, `${failures.length} of ${answered + failures.length} failed: ${failures[0]}`],
    [!(overWaitSeconds <= allowed), `released ${overWaitSeconds} s late, of which ${lagSeconds} s are the machine's`],
    [overWaitSeconds < -EARLY_SECONDS - lagSeconds, `released ${-overWaitSeconds} s early`],
  ];
  return found.filter(([wrong]) => wrong).map(([, sentence]) => sentence);
}
