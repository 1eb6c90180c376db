/** Checks the results of the relay benchmark against its limits. */
import { type AdmissionRounds, type RelayResults, ratioToControl, ratioToQuiet, type Spread } from "./relay-results.ts";

export type Goal = { readonly title: string; readonly measured: string; readonly met: boolean };

const MAX_WITHDRAWAL_P99_MS = 250;
/** Limit of the p99 of admissions while Pods drain, as a multiple of the p99 without drains and of the control's p99. */
const MAX_P99_RATIO = 2;

export function checkGoals(results: RelayResults): readonly Goal[] {
  const { streams, withdrawalMs, admissions } = results;
  const reportedWithdrawals = withdrawalMs.beside.count + withdrawalMs.alone.count + withdrawalMs.burst.count;
  const quietGoal = (load: string, { draining, control }: ReturnType<typeof ratioToQuiet>): Goal => ({
    title: `admission p99 while ${load}: below ${MAX_P99_RATIO} times that without drains`,
    measured: `${draining.toFixed(2)}; that of the control: ${control.toFixed(2)}`,
    met: draining < MAX_P99_RATIO,
  });
  const controlGoal = (load: string, rounds: AdmissionRounds): Goal => ({
    title: `admission p99 while ${load}: below ${MAX_P99_RATIO} times that of the control at the same time`,
    measured: ratioToControl(rounds).toFixed(2),
    met: ratioToControl(rounds) < MAX_P99_RATIO,
  });
  return [
    {
      title: "every Pod is notified of its withdrawal",
      measured: `${reportedWithdrawals} of ${streams}`,
      met: reportedWithdrawals === streams,
    },
    withdrawalGoal("during admissions", withdrawalMs.beside),
    withdrawalGoal("without admissions", withdrawalMs.alone),
    quietGoal("slices change", ratioToQuiet(results, admissions.events)),
    controlGoal("slices change", admissions.events),
    quietGoal("streams open", ratioToQuiet(results, admissions.opening)),
    controlGoal("streams open", admissions.opening),
  ];
}

function withdrawalGoal(when: string, { p99 }: Spread): Goal {
  return {
    title: `slice write to status line read, ${when}: p99 at most ${MAX_WITHDRAWAL_P99_MS} ms`,
    measured: `${p99.toFixed(1)} ms`,
    met: p99 <= MAX_WITHDRAWAL_P99_MS,
  };
}
