/** Checks the result of a scenario with an Envoy. Pure. */
import type { EnvoyResult } from "./envoy-result.ts";
import type { Scenario } from "./envoy-scenario.ts";

const MAX_OVER_WAIT_SECONDS = 0.25;
/** Tolerance for rounded values, and for the time between the readings of two clocks. */
const CLOCK_TOLERANCE_SECONDS = 0.1;
/** After the drain delay each client gets its next response within this time, and has to close its connection after the response. */
const MAX_SECONDS_TO_CLOSE = 1;

type DrainMeasurements = Pick<
  EnvoyResult,
  "hookStatus" | "hooksFailed" | "failures" | "answered" | "overWaitSeconds" | "lagSeconds"
>;

export function checkEnvoy(scenario: Scenario, result: EnvoyResult): readonly string[] {
  const { answered, cut, outcome, why, stayedSeconds } = result;
  const hasStayedConnected = scenario.closesOnDrain === true && stayedSeconds > MAX_SECONDS_TO_CLOSE;
  const endsAtDeadline = scenario.ending === "deadline";
  const checks: readonly (readonly [boolean, string])[] = [
    [answered === 0 && scenario.key !== "none", "no request was answered"],
    [outcome !== (endsAtDeadline ? "timeout" : "drained"), `the drain ended as ${outcome}: ${why}`],
    [hasStayedConnected, `clients stayed connected for ${stayedSeconds} s after the drain delay`],
    [endsAtDeadline && cut !== 1, `${cut} sessions were closed at the deadline, expected 1`],
  ];
  return [...checkDrain(result), ...checks.filter(([isFailed]) => isFailed).map(([, message]) => message)];
}

/** Runs the checks of every proxy's drain: the hooks' responses, failed requests, and the time of the stop signal. */
export function checkDrain(measurements: DrainMeasurements): readonly string[] {
  const { hookStatus, hooksFailed, failures, answered, overWaitSeconds, lagSeconds } = measurements;
  const allowedSeconds = MAX_OVER_WAIT_SECONDS + lagSeconds;
  const checks: readonly (readonly [boolean, string])[] = [
    [hookStatus !== 200, `the hook's response has status ${hookStatus}, expected 200`],
    [hooksFailed > 0, `${hooksFailed} hooks failed`],
    [failures.length > 0, `${failures.length} of ${answered + failures.length} requests failed: ${failures[0]}`],
    [
      !(overWaitSeconds <= allowedSeconds),
      `the stop signal came ${overWaitSeconds} s late, of which ${lagSeconds} s are scheduling lag`,
    ],
    [overWaitSeconds < -CLOCK_TOLERANCE_SECONDS - lagSeconds, `the stop signal came ${-overWaitSeconds} s early`],
  ];
  return checks.filter(([isFailed]) => isFailed).map(([, message]) => message);
}
