/** Checks the result of a scenario with an Envoy. Pure. */
import type { EnvoyResult } from "./envoy-result.ts";
import type { Scenario } from "./envoy-scenario.ts";

const OVER_WAIT_SECONDS = 0.25;
/** Tolerance for rounding, and for two clocks that are not read at the same moment. */
const EARLY_SECONDS = 0.1;
/** Maximum time after the drain delay in which a client gets its next response, after which it has to close its connection. */
const STAY_SECONDS = 1;

type Measured = Pick<
  EnvoyResult,
  "hookStatus" | "hooksFailed" | "failures" | "answered" | "overWaitSeconds" | "lagSeconds"
>;

export function checkEnvoy(scenario: Scenario, result: EnvoyResult): readonly string[] {
  const { answered, cut, outcome, why, stayedSeconds } = result;
  const hasStayedConnected = scenario.closesOnDrain === true && stayedSeconds > STAY_SECONDS;
  const endsAtDeadline = scenario.ends === "deadline";
  const checks: readonly (readonly [boolean, string])[] = [
    [answered === 0 && scenario.key !== "none", "no request was answered"],
    [outcome !== (endsAtDeadline ? "timeout" : "drained"), `the drain ended as ${outcome}: ${why}`],
    [hasStayedConnected, `clients stayed connected for ${stayedSeconds} s after the drain delay`],
    [endsAtDeadline && cut !== 1, `${cut} sessions were closed at the deadline, expected 1`],
  ];
  return [...checkDrain(result), ...checks.filter(([isFailed]) => isFailed).map(([, message]) => message)];
}

/** Checks that hold for every drain of a proxy: answered hooks, no failed request, no over-wait. */
export function checkDrain(measured: Measured): readonly string[] {
  const { hookStatus, hooksFailed, failures, answered, overWaitSeconds, lagSeconds } = measured;
  const allowed = OVER_WAIT_SECONDS + lagSeconds;
  const checks: readonly (readonly [boolean, string])[] = [
    [hookStatus !== 200, `the hook's response has status ${hookStatus}, expected 200`],
    [hooksFailed > 0, `${hooksFailed} hooks failed`],
    [failures.length > 0, `${failures.length} of ${answered + failures.length} requests failed: ${failures[0]}`],
    [!(overWaitSeconds <= allowed), `released ${overWaitSeconds} s late, ${lagSeconds} s of it scheduling lag`],
    [overWaitSeconds < -EARLY_SECONDS - lagSeconds, `released ${-overWaitSeconds} s early`],
  ];
  return checks.filter(([isFailed]) => isFailed).map(([, message]) => message);
}
