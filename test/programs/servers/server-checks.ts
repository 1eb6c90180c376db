/** Checks the rollout of one server and makes its row of the table. Pure. */
import type { RollOutcome, RollResult } from "../harness/roll-request.ts";
import type { FoundProgram } from "../install/program-of.ts";
import type { Counted, ServerResult } from "../results/program-result.ts";
import { type ServerRow, titleOf } from "./server-table.ts";

export type ServerCheck = {
  readonly failures: readonly string[];
  readonly result: ServerResult;
};

/** Hanging clients would send few requests and so hide failures. */
const LEAST_REQUESTS = 200;

export function checkServer(row: ServerRow, program: FoundProgram, { manager, outcomes }: RollResult): ServerCheck {
  const { without, with: covered, endless, preload } = outcomes;
  if (without === undefined || covered === undefined || endless === undefined || preload === undefined)
    throw new Error(`${titleOf(row)}: a variant is missing, expected with, without, endless and preload`);
  const result: ServerResult = {
    kind: "server",
    system: row.system,
    version: `${program.version} (${program.source})`,
    stopSignal: row.stopSignal,
    signalOf: row.signalOf,
    manager,
    without: countsOf(without),
    with: countsOf(covered),
    endless: { ...countsOf(endless), outcomes: outcomesOf(endless) },
    preload: {
      ...countsOf(preload),
      outcomes: outcomesOf(preload),
      ...longestOf(preload),
      unreached: row.unreachedByPreload ?? "",
    },
    ...longestOf(covered),
    stopSeconds: Math.max(...covered.ends.map((end) => end.stopSeconds)),
  };
  const failures = [
    ...lossesOf(covered, "with lastcall"),
    ...(row.unreachedByPreload === undefined ? lossesOf(preload, "with preload") : []),
    ...[without, covered, endless, preload]
      .filter((outcome) => outcome.counts.requests < LEAST_REQUESTS)
      .map((outcome) => `${outcome.counts.requests} requests were sent, expected at least ${LEAST_REQUESTS}`),
  ];
  return { failures, result };
}

function lossesOf(outcome: RollOutcome, how: string): readonly string[] {
  const late = outcome.ends.filter((end) => end.outcome !== "drained");
  return [
    ...(outcome.counts.failed === 0 ? [] : [`${counted(outcome)} failed ${how}`]),
    ...late.map((end) => `a drain ${how} ended as "${end.outcome}": ${end.why}`),
  ];
}

function outcomesOf({ ends }: RollOutcome): readonly string[] {
  return [...new Set(ends.map((end) => end.outcome))].sort();
}

function longestOf({ ends }: RollOutcome): { readonly drainSeconds: number; readonly overWaitSeconds: number } {
  return {
    drainSeconds: Math.max(...ends.map((end) => end.drainSeconds)),
    overWaitSeconds: Math.max(...ends.map((end) => end.overWaitSeconds)),
  };
}

function countsOf({ counts }: RollOutcome): Counted {
  return { requests: counts.requests, failed: counts.failed, kinds: counts.kinds };
}

function counted({ counts }: RollOutcome): string {
  const kinds = Object.entries(counts.kinds).filter(([, count]) => count > 0);
  const detail = kinds.length === 0 ? "" : ` (${kinds.map(([kind, count]) => `${kind} ${count}`).join(", ")})`;
  return `${counts.failed} of ${counts.requests} requests${detail}`;
}
