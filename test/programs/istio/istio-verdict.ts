/** What the end of a Pod in a mesh must have reached. Pure. */
import { duringShortfalls } from "../envoy/verdict.ts";
import type { IstioResult } from "./istio-case.ts";

/** The app stays two seconds after its stop signal and calls twenty times a second; a busy machine makes that fewer. */
const LEAST_CALLS_AFTER_SIGNAL = 5;

/** @returns what fell short, one sentence each; none where all was reached */
export function istioShortfalls(result: IstioResult): readonly string[] {
  const { calls, form, statistics, driverNote, outcome, why, proxyAfterAppSeconds } = result;
  const counted = driverNote === "";
  const found: readonly (readonly [boolean, string])[] = [
    [outcome !== "drained", `the drain ended as ${outcome}: ${why}`],
    [calls.failures.length > 0, `${calls.failures.length} calls of the app failed: ${calls.failures[0]}`],
    [calls.sentAway > 0, `the proxy asked the app to close ${calls.sentAway} times`],
    [calls.byProxy === 0, "the app's calls did not pass the proxy"],
    [calls.afterSignal < LEAST_CALLS_AFTER_SIGNAL, `${calls.afterSignal} calls after the app's stop signal`],
    // A classic proxy is held until the app has had no socket for a second.
    [
      proxyAfterAppSeconds < (form === "classic" ? 0.9 : 0),
      `the proxy ended ${-proxyAfterAppSeconds} s before the app`,
    ],
    [counted !== (statistics === "all"), counted ? "the driver counted what it cannot see" : driverNote],
  ];
  return [...duringShortfalls(result), ...found.filter(([wrong]) => wrong).map(([, sentence]) => sentence)];
}
