/** Checks the drain of a Pod in a mesh. Pure. */
import { checkDrain } from "../envoy/envoy-checks.ts";
import type { IstioResult } from "./istio-case.ts";

/** The app runs for two seconds after its stop signal and makes twenty calls a second, fewer on a busy machine. */
const MIN_CALLS_AFTER_SIGNAL = 5;

export function checkIstio(result: IstioResult): readonly string[] {
  const { calls, form, statistics, driverWarning, outcome, why, proxyAfterAppSeconds } = result;
  const hasCounts = driverWarning === "";
  const checks: readonly (readonly [boolean, string])[] = [
    [outcome !== "drained", `the drain ended as ${outcome}: ${why}`],
    [calls.failures.length > 0, `${calls.failures.length} calls of the app failed: ${calls.failures[0]}`],
    [calls.closeHeaders > 0, `the proxy answered ${calls.closeHeaders} calls of the app with Connection: close`],
    [calls.byProxy === 0, "the app's calls did not pass through the proxy"],
    [
      calls.afterSignal < MIN_CALLS_AFTER_SIGNAL,
      `the app made ${calls.afterSignal} calls after its stop signal, expected at least ${MIN_CALLS_AFTER_SIGNAL}`,
    ],
    // The manager delays the stop signal of a proxy in a regular container until one second after the app's last socket closed.
    [
      proxyAfterAppSeconds < (form === "classic" ? 0.9 : 0),
      `the proxy ended ${-proxyAfterAppSeconds} s before the app`,
    ],
    [
      hasCounts !== (statistics === "all"),
      hasCounts ? "the driver counted although the statistics are cut" : driverWarning,
    ],
  ];
  return [...checkDrain(result), ...checks.filter(([isFailed]) => isFailed).map(([, message]) => message)];
}
