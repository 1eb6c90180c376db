/** Checks the rollouts of one scenario and builds their line of the results. Pure. */
import { type RolloutScenario, scenarioName } from "./rollout-scenarios.ts";
import { type PerProtocol, PROTOCOLS, perProtocol, type RolloutsResult } from "./rollouts-request.ts";

const MIN_REQUESTS_PER_SECOND = 500;
export const OVER_WAIT_GOAL_MS = 250;
/** Maximum median of the over-waits in drains of Pods with an idle HTTP/1.1 connection. */
const MAX_IDLE_OVER_WAIT_MS = 500;

export type RolloutsLine = Pick<
  RolloutScenario,
  "protocols" | "clients" | "driver" | "rollouts" | "settings" | "promised"
> & {
  readonly kind: "rollouts";
  readonly system: string;
  readonly manager: "native" | "node";
  readonly answered: PerProtocol<number>;
  readonly failed: PerProtocol<number>;
  /** Average of the responses per second; `slowestSecond` is the lowest count of a second. */
  readonly rate: number;
  readonly slowestSecond: number;
  readonly drains: number;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly drainMs: Spread;
  readonly overWaitMs: Spread;
  /** Reason in the manager's report of the drain with the longest over-wait. */
  readonly longestWhy: string;
  readonly withinGoal: number;
  readonly longestStallMs: number;
  readonly machineLoad: number;
  readonly processors: number;
};

export type Spread = { readonly median: number; readonly most: number };

export type RolloutsCheck = {
  readonly line: RolloutsLine;
  readonly failures: readonly string[];
};

export function checkRollouts(scenario: RolloutScenario, result: RolloutsResult): RolloutsCheck {
  const line = buildLine(scenario, result);
  return { line, failures: findFailures(line, result) };
}

function buildLine(scenario: RolloutScenario, { nodes, drains, ...run }: RolloutsResult): RolloutsLine {
  const { protocols, clients, driver, rollouts, settings, promised } = scenario;
  const sum = (countOf: (node: (typeof nodes)[number]) => number) =>
    nodes.reduce((total, node) => total + countOf(node), 0);
  const measuredMs = Math.max(...nodes.map((node) => node.measuredMs));
  const answered = perProtocol((protocol) => sum((node) => node.answered[protocol]));
  const overWaits = drains.map(({ overWaitMs }) => overWaitMs);
  return {
    kind: "rollouts",
    system: scenarioName(scenario),
    ...{ protocols, clients, driver, rollouts, settings, promised },
    manager: run.manager,
    answered,
    failed: perProtocol((protocol) => sum((node) => node.failed[protocol])),
    rate: Math.round((total(answered) * 1_000) / measuredMs),
    slowestSecond: findSlowestSecond(nodes.map(({ perSecond }) => perSecond)),
    drains: drains.length,
    outcomes: Object.fromEntries(
      [...new Set(drains.map(({ outcome }) => outcome))]
        .sort()
        .map((outcome) => [outcome, drains.filter((drain) => drain.outcome === outcome).length]),
    ),
    drainMs: computeSpread(drains.map(({ drainMs }) => drainMs)),
    overWaitMs: computeSpread(overWaits),
    longestWhy: [...drains].sort((a, b) => b.overWaitMs - a.overWaitMs)[0]?.why ?? "",
    withinGoal: overWaits.filter((ms) => ms <= OVER_WAIT_GOAL_MS).length,
    longestStallMs: Math.max(...nodes.map((node) => node.longestStallMs)),
    machineLoad: Math.round(run.machineLoad * 10) / 10,
    processors: run.processors,
  };
}

function findFailures(line: RolloutsLine, { nodes, drains }: RolloutsResult): readonly string[] {
  const failures: string[] = [];
  if (line.rate < MIN_REQUESTS_PER_SECOND)
    failures.push(`${line.rate} requests a second were answered, expected at least ${MIN_REQUESTS_PER_SECOND}`);
  if (line.drains !== line.rollouts * 2)
    failures.push(`${line.drains} Pods ended in ${line.rollouts} rollouts of 2 Pods`);
  if (!line.promised) return failures;
  // Clients reconnect only every few seconds, so they may miss a few Pods. A run with many Pods without clients is invalid.
  const unusedPods = drains.filter(({ served }) => !served).length;
  if (unusedPods > drains.length / 10)
    failures.push(`${unusedPods} of ${drains.length} Pods ended before any client sent a request`);
  if (total(line.failed) > 0) {
    const firstFailures = JSON.stringify(nodes.flatMap(({ failures }) => failures).slice(0, 5));
    const stallText = `clients stalled for up to ${line.longestStallMs} ms`;
    failures.push(
      `${total(line.failed)} of ${total(line.answered)} requests failed (${stallText}), such as ${firstFailures}`,
    );
  }
  for (const { outcome, why } of drains)
    if (outcome !== "drained") failures.push(`a drain ended as "${outcome}": ${why}`);
  // Each client node keeps an idle connection to every Pod; a drain must not wait for this connection.
  if (line.clients === "short-lived" && line.protocols.includes("http1")) {
    const podsWithoutIdle = drains.filter(({ leftTotal }) => leftTotal === 0).length;
    if (podsWithoutIdle > 0)
      failures.push(`${podsWithoutIdle} Pods ended without the idle connection that was kept open`);
    // The check uses the median, because single drains may wait for a processor.
    if (line.overWaitMs.median > MAX_IDLE_OVER_WAIT_MS)
      failures.push(
        `with an idle connection open, half of the drains took ${line.overWaitMs.median} ms more than the quiet period after the last answer, expected at most ${MAX_IDLE_OVER_WAIT_MS} ms`,
      );
  }
  return failures;
}

export function total(counts: PerProtocol<number>): number {
  return PROTOCOLS.reduce((sum, protocol) => sum + counts[protocol], 0);
}

/** Sums the responses of all nodes per second, and returns the lowest sum of a second that all nodes measured. */
function findSlowestSecond(nodes: readonly (readonly number[])[]): number {
  const secondCount = Math.min(...nodes.map((node) => node.length));
  const sums = Array.from({ length: secondCount }, (_, second) =>
    nodes.reduce((sum, node) => sum + (node[second] ?? 0), 0),
  );
  return sums.length === 0 ? 0 : Math.min(...sums);
}

function computeSpread(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  return { median: sorted[Math.trunc(sorted.length / 2)] ?? 0, most: sorted.at(-1) ?? 0 };
}
