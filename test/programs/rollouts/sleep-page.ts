/** Writes docs/beside-sleep.md from the results of `npm run bench:rollouts`. Pure. */
import { table } from "../results/page.ts";
import type { OtherResult } from "../results/program-result.ts";
import { type RolloutScenario, scenarioName } from "./rollout-scenarios.ts";
import { type RolloutsLine, total } from "./rollouts-checks.ts";
import { failureCell, findLine } from "./rollouts-page.ts";
import {
  ENDING_NAMES,
  ENDLESS_SCENARIOS,
  LATE_PROXY_SCENARIOS,
  SHORT_LIVED_SCENARIOS,
  SLEEP_SCENARIOS,
  SLOW_RESPONSE_SCENARIOS,
} from "./sleep-scenarios.ts";

export function missingSleepScenarios(results: readonly OtherResult[]): readonly string[] {
  return SLEEP_SCENARIOS.map(scenarioName).filter((name) => findLine(name, results) === undefined);
}

export function sleepPage(results: readonly OtherResult[]): string {
  const tableOf = (scenarios: readonly RolloutScenario[]): string => sleepTable(scenarios, results);
  const machineLoads = SLEEP_SCENARIOS.flatMap(
    (scenario) => findLine(scenarioName(scenario), results)?.machineLoad ?? [],
  );
  return [
    `# Beside \`preStop: sleep 5\`

<!-- generated from real runs; after npm run bench:rollouts -- --only=app: npm run table:programs -->

Without lastcall, many Pods have a preStop hook that sleeps for 5 s. This page compares this hook with lastcall's default settings. Both
run the same Pods and get the same load, that of [20 rollouts](rollouts.md): HTTP/1.1, more than 500 requests a second. Each row has 20
consecutive rollouts if its clients never close their connections, otherwise 5; each rollout starts when the replaced Pods of the
previous one have exited. After its stop signal the *graceful* app responds with \`Connection: close\` and finishes its requests; the
*abrupt* app exits immediately. The time of a Pod runs from its deletion to its stop signal. "310 of 89590, 40 Pods" means: 310 of
89590 requests failed while 40 Pods were replaced.

Two processors, load average ${Math.min(...machineLoads)} to ${Math.max(...machineLoads)}. One run per row.

## Clients that never close their connections
`,
    tableOf(ENDLESS_SCENARIOS),
    `
With lastcall's defaults the first Pods of the graceful app wait for the patience. After three clean stops the relay
[records](decisions/0056-clean-stops-prove-graceful-shutdowns.md) that the app is graceful, and the next Pods do not wait.

An abrupt app loses the requests in flight at its stop signal, whatever ends the Pod: waiting does not close these connections
([what does](how-it-works.md#clients-that-never-close)).

## Clients whose connections live 1 to 10 s
`,
    tableOf(SHORT_LIVED_SCENARIOS),
    `
## Proxies that receive endpoint changes late

Connections live 1 to 10 s, and the app is abrupt. The proxy of one node receives changes after the
time in the table, the proxy of the other node after half of it.
`,
    tableOf(LATE_PROXY_SCENARIOS),
    `
## Responses that take 1 to 30 s

Four clients always wait for such a response; all other connections live 1 to 10 s. The app is abrupt.
`,
    tableOf(SLOW_RESPONSE_SCENARIOS),
    "",
  ].join("\n");
}

const HEAD = ["app", "proxies", "end of the Pods", "failed", "a Pod's time: median, longest", "the drains ended as"];

export function sleepTable(scenarios: readonly RolloutScenario[], results: readonly OtherResult[]): string {
  const rows = scenarios.flatMap((scenario) => {
    const line = findLine(scenarioName(scenario), results);
    return line === undefined ? [] : [rowOf(scenario, line)];
  });
  return table([HEAD, ...rows]);
}

function rowOf({ shutdown, propagationMs, ending }: RolloutScenario, line: RolloutsLine): readonly string[] {
  const formatSeconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
  const outcomes = Object.entries(line.outcomes).map(([outcome, count]) => `${outcome} ${count}`);
  return [
    shutdown,
    `${Math.max(...propagationMs) / 1_000} s late`,
    ENDING_NAMES[ending],
    `${failureCell(line)}${total(line.failed) === 0 ? "" : `, ${line.drains} Pods`}`,
    `${formatSeconds(line.drainMs.median)}, ${formatSeconds(line.drainMs.most)}`,
    ending === "sleep" ? "–" : outcomes.join(", "),
  ];
}
