/** Lists the scenarios that compare the ends of Pods: with `preStop: sleep 5`, and with lastcall. Pure. */
import { PROPAGATION_MS, type RolloutScenario, SLOWEST_RESPONSE_MS } from "./rollout-scenarios.ts";
import type { AppShutdown, DrainSettings, Ending } from "./rollouts-request.ts";

/** lastcall's defaults. */
const SETTINGS: DrainSettings = { delayMs: 5_000, quietMs: 2_000, timeoutMs: 60_000 };
/** Long enough that each connection is used hundreds of times in a drain, and short enough for 20 rollouts. */
const FULL_WAIT_MS = 20_000;
const PROXY_DELAYS_MS = [2_000, 8_000] as const;
const ENDLESS_ROLLOUTS = 20;
const ROLLOUTS = 5;
const LONGEST_RESPONSE_MS = 30_000;

export const ENDING_NAMES: Readonly<Record<Ending, string>> = {
  sleep: "preStop: sleep 5",
  defaults: "lastcall",
  declared: "lastcall, shutdown: graceful",
  "full wait": "lastcall, patience 20 s",
};

const ENDLESS_VARIANTS: readonly (readonly [AppShutdown, Ending])[] = [
  ["graceful", "sleep"],
  ["graceful", "defaults"],
  ["graceful", "declared"],
  ["abrupt", "sleep"],
  ["abrupt", "defaults"],
  ["abrupt", "full wait"],
];

const SHORT_LIVED_VARIANTS: readonly (readonly [AppShutdown, Ending])[] = [
  ["graceful", "sleep"],
  ["graceful", "defaults"],
  ["abrupt", "sleep"],
  ["abrupt", "defaults"],
];

export const ENDLESS_SCENARIOS = ENDLESS_VARIANTS.map((variant) => buildScenario("endless", variant));
export const SHORT_LIVED_SCENARIOS = SHORT_LIVED_VARIANTS.map((variant) => buildScenario("short-lived", variant));
export const LATE_PROXY_SCENARIOS = PROXY_DELAYS_MS.flatMap((lateMs) =>
  (["sleep", "defaults"] as const).map((ending) => {
    const baseScenario = buildScenario("short-lived", ["abrupt", ending]);
    const label = `proxies ${lateMs / 1_000} s late, ${baseScenario.label}`;
    return { ...baseScenario, label, propagationMs: [lateMs / 2, lateMs] };
  }),
);
/** The app exits immediately at its stop signal, so each interrupted response counts as failed. */
export const SLOW_RESPONSE_SCENARIOS = (["sleep", "defaults"] as const).map((ending) => {
  const baseScenario = buildScenario("short-lived", ["abrupt", ending]);
  return {
    ...baseScenario,
    label: `responses of 1 to 30 s, ${baseScenario.label}`,
    slowestResponseMs: LONGEST_RESPONSE_MS,
  };
});

export const SLEEP_SCENARIOS: readonly RolloutScenario[] = [
  ...ENDLESS_SCENARIOS,
  ...SHORT_LIVED_SCENARIOS,
  ...LATE_PROXY_SCENARIOS,
  ...SLOW_RESPONSE_SCENARIOS,
];

/** `promised` is false, so the check only counts failed requests. The table compares these counts between the endings. */
function buildScenario(
  clients: RolloutScenario["clients"],
  [shutdown, ending]: readonly [AppShutdown, Ending],
): RolloutScenario {
  return {
    protocols: ["http1"],
    clients,
    driver: "none",
    label: `${shutdown} app, ${ENDING_NAMES[ending]}`,
    shutdown,
    ending,
    slowestResponseMs: SLOWEST_RESPONSE_MS,
    propagationMs: PROPAGATION_MS,
    rollouts: clients === "endless" ? ENDLESS_ROLLOUTS : ROLLOUTS,
    waitsForEnds: true,
    settings: ending === "full wait" ? { ...SETTINGS, timeoutMs: FULL_WAIT_MS } : SETTINGS,
    promised: false,
  };
}
