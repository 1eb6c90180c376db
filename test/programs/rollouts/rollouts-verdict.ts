/** What the rollouts of one scene prove: one line for the results, and what must hold. Pure. */
import { type RolloutScene, sceneName } from "./rollout-scenes.ts";
import { type PerProtocol, PROTOCOLS, perProtocol, type RolloutsResult } from "./rollouts-request.ts";

/** Answers each second, over the whole run. */
const LEAST_RATE = 500;
/** What a drain may take past the moment when everything was done. */
export const OVER_WAIT_GOAL_MS = 250;
/** With an idle HTTP/1.1 connection open: this much past the quiet period behind the last answer. */
const IDLE_GOAL_MS = 500;

export type RolloutsLine = Pick<
  RolloutScene,
  "protocols" | "clients" | "driver" | "rollouts" | "settings" | "promised"
> & {
  readonly kind: "rollouts";
  readonly system: string;
  readonly manager: "native" | "node";
  readonly answered: PerProtocol<number>;
  readonly failed: PerProtocol<number>;
  /** Answers a second over the whole run, and in its slowest second. */
  readonly rate: number;
  readonly slowestSecond: number;
  readonly drains: number;
  /** How often each outcome came. */
  readonly outcomes: Readonly<Record<string, number>>;
  readonly drainMs: Spread;
  readonly overWaitMs: Spread;
  /** What the manager said of the drain that took longest past that moment. */
  readonly longestWhy: string;
  /** Drains that ended within the goal past the moment when everything was done. */
  readonly withinGoal: number;
  readonly longestStallMs: number;
  readonly machineLoad: number;
  readonly processors: number;
};

export type Spread = { readonly median: number; readonly most: number };

export type RolloutsVerdict = {
  readonly line: RolloutsLine;
  /** What does not hold, each as a sentence; empty when everything does. */
  readonly failures: readonly string[];
};

export function verdictOf(scene: RolloutScene, result: RolloutsResult): RolloutsVerdict {
  const line = lineOf(scene, result);
  return { line, failures: failuresOf(line, result) };
}

function lineOf(scene: RolloutScene, { nodes, drains, ...run }: RolloutsResult): RolloutsLine {
  const { protocols, clients, driver, rollouts, settings, promised } = scene;
  const sum = (of: (node: (typeof nodes)[number]) => number) => nodes.reduce((total, node) => total + of(node), 0);
  const measuredMs = Math.max(...nodes.map((node) => node.measuredMs));
  const answered = perProtocol((one) => sum((node) => node.answered[one]));
  const overWaits = drains.map(({ overWaitMs }) => overWaitMs);
  return {
    kind: "rollouts",
    system: sceneName(scene),
    ...{ protocols, clients, driver, rollouts, settings, promised },
    manager: run.manager,
    answered,
    failed: perProtocol((one) => sum((node) => node.failed[one])),
    rate: Math.round((total(answered) * 1_000) / measuredMs),
    slowestSecond: slowest(nodes.map(({ perSecond }) => perSecond)),
    drains: drains.length,
    outcomes: Object.fromEntries(
      [...new Set(drains.map(({ outcome }) => outcome))]
        .sort()
        .map((outcome) => [outcome, drains.filter((drain) => drain.outcome === outcome).length]),
    ),
    drainMs: spread(drains.map(({ drainMs }) => drainMs)),
    overWaitMs: spread(overWaits),
    longestWhy: [...drains].sort((a, b) => b.overWaitMs - a.overWaitMs)[0]?.why ?? "",
    withinGoal: overWaits.filter((ms) => ms <= OVER_WAIT_GOAL_MS).length,
    longestStallMs: Math.max(...nodes.map((node) => node.longestStallMs)),
    machineLoad: Math.round(run.machineLoad * 10) / 10,
    processors: run.processors,
  };
}

function failuresOf(line: RolloutsLine, { nodes, drains }: RolloutsResult): readonly string[] {
  const problems: string[] = [];
  if (line.rate < LEAST_RATE)
    problems.push(`${line.rate} requests a second were answered, expected at least ${LEAST_RATE}`);
  if (line.drains !== line.rollouts * 2) problems.push(`${line.drains} Pods ended in ${line.rollouts} rollouts of 2`);
  if (!line.promised) return problems;
  // Kept connections are made again every few seconds, so a Pod may miss them; many that do show nothing.
  const unused = drains.filter(({ served }) => !served).length;
  if (unused > drains.length / 10) problems.push(`${unused} of ${drains.length} Pods ended before any client came`);
  if (total(line.failed) > 0) {
    const first = JSON.stringify(nodes.flatMap(({ failures }) => failures).slice(0, 5));
    const stall = `clients stood still for up to ${line.longestStallMs} ms`;
    problems.push(`${total(line.failed)} of ${total(line.answered)} requests failed (${stall}), such as ${first}`);
  }
  for (const { outcome, why } of drains)
    if (outcome !== "drained") problems.push(`a drain ended as "${outcome}": ${why}`);
  // Each node keeps a silent connection at every Pod; no one is to wait for it.
  if (line.clients === "short-lived" && line.protocols.includes("http1")) {
    const bare = drains.filter(({ leftTotal }) => leftTotal === 0).length;
    if (bare > 0) problems.push(`${bare} Pods ended without the idle connection that was kept open`);
    // The median: one drain may wait for the processor, not half of them.
    if (line.overWaitMs.median > IDLE_GOAL_MS)
      problems.push(
        `with an idle connection open, half of the drains took ${line.overWaitMs.median} ms more than the quiet period after the last answer, expected at most ${IDLE_GOAL_MS} ms`,
      );
  }
  return problems;
}

export function total(counts: PerProtocol<number>): number {
  return PROTOCOLS.reduce((sum, protocol) => sum + counts[protocol], 0);
}

/** Of the sums of all nodes, over the seconds that all of them have. */
function slowest(nodes: readonly (readonly number[])[]): number {
  const seconds = Math.min(...nodes.map((node) => node.length));
  const sums = Array.from({ length: seconds }, (_, second) =>
    nodes.reduce((sum, node) => sum + (node[second] ?? 0), 0),
  );
  return sums.length === 0 ? 0 : Math.min(...sums);
}

function spread(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  return { median: sorted[Math.trunc(sorted.length / 2)] ?? 0, most: sorted.at(-1) ?? 0 };
}
