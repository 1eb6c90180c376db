/** Checks the rollout of one server and builds its result. Pure. */
import type { RollOutcome, RollResult } from "../harness/roll-request.ts";
import type { FoundProgram } from "../install/program-of.ts";
import type { RequestTotals, ServerResult } from "../results/program-result.ts";
import { type ServerRow, titleOf } from "./server-table.ts";

export type ServerCheck = {
  readonly failures: readonly string[];
  readonly result: ServerResult;
};

/** A run with fewer requests fails: clients that hang send few requests, so failures would stay hidden. */
const MIN_REQUESTS = 200;

export function checkServer(row: ServerRow, program: FoundProgram, { manager, outcomes }: RollResult): ServerCheck {
  const { without, with: withLastcall, sleep, endless, endlessSleep, preload } = readOutcomes(row, outcomes);
  const result: ServerResult = {
    kind: "server",
    system: row.system,
    version: `${program.version} (${program.source})`,
    stopSignal: row.stopSignal,
    signalOf: row.signalOf,
    manager,
    without: pickTotals(without),
    with: pickTotals(withLastcall),
    sleep: pickTotals(sleep),
    endless: { ...pickTotals(endless), outcomes: outcomesOf(endless), ...longestDrain(endless) },
    endlessSleep: pickTotals(endlessSleep),
    preload: {
      ...pickTotals(preload),
      outcomes: outcomesOf(preload),
      ...longestDrain(preload),
      unreached: row.unreachedByPreload ?? "",
    },
    ...longestDrain(withLastcall),
    stopSeconds: Math.max(...withLastcall.ends.map((end) => end.stopSeconds)),
  };
  const failures = [
    ...describeLosses(withLastcall, "with lastcall"),
    ...(row.unreachedByPreload === undefined ? describeLosses(preload, "with preload") : []),
    ...[without, withLastcall, sleep, endless, endlessSleep, preload]
      .filter((outcome) => outcome.counts.requests < MIN_REQUESTS)
      .map((outcome) => `${outcome.counts.requests} requests were sent, expected at least ${MIN_REQUESTS}`),
  ];
  return { failures, result };
}

const VARIANTS = ["without", "with", "sleep", "endless", "endlessSleep", "preload"] as const;

function readOutcomes(
  row: ServerRow,
  outcomes: RollResult["outcomes"],
): Record<(typeof VARIANTS)[number], RollOutcome> {
  const entries = VARIANTS.map((name) => {
    const outcome = outcomes[name];
    if (outcome === undefined)
      throw new Error(`${titleOf(row)}: the variant ${name} is missing, expected ${VARIANTS.join(", ")}`);
    return [name, outcome] as const;
  });
  return Object.fromEntries(entries) as Record<(typeof VARIANTS)[number], RollOutcome>;
}

function describeLosses(outcome: RollOutcome, condition: string): readonly string[] {
  const unfinishedEnds = outcome.ends.filter((end) => end.outcome !== "drained");
  return [
    ...(outcome.counts.failed === 0 ? [] : [`${describeFailed(outcome)} failed ${condition}`]),
    ...unfinishedEnds.map((end) => `a drain ${condition} ended as "${end.outcome}": ${end.why}`),
  ];
}

function outcomesOf({ ends }: RollOutcome): readonly string[] {
  return [...new Set(ends.map((end) => end.outcome))].sort();
}

function longestDrain({ ends }: RollOutcome): { readonly drainSeconds: number; readonly overWaitSeconds: number } {
  return {
    drainSeconds: Math.max(...ends.map((end) => end.drainSeconds)),
    overWaitSeconds: Math.max(...ends.map((end) => end.overWaitSeconds)),
  };
}

function pickTotals({ counts }: RollOutcome): RequestTotals {
  return { requests: counts.requests, failed: counts.failed, kinds: counts.kinds };
}

function describeFailed({ counts }: RollOutcome): string {
  const countsByKind = Object.entries(counts.kinds).filter(([, count]) => count > 0);
  const detail =
    countsByKind.length === 0 ? "" : ` (${countsByKind.map(([kind, count]) => `${kind} ${count}`).join(", ")})`;
  return `${counts.failed} of ${counts.requests} requests${detail}`;
}
