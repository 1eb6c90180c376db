/** Checks the results of the relay benchmark against its limits. */
import { type AdmissionRounds, type RelayResults, ratioToControl, ratioToQuiet, type Spread } from "./relay-results.ts";

export type Goal = { readonly title: string; readonly measured: string; readonly met: boolean };

const WITHDRAWAL_P99_MS = 250;
/** Limit on the p99 of admissions while Pods drain, as a multiple of that without drains and of the control's. */
const RATIO = 2;

export function goalsOf(results: RelayResults): readonly Goal[] {
  const { streams, withdrawalMs, admissions } = results;
  const reported = withdrawalMs.beside.count + withdrawalMs.alone.count + withdrawalMs.burst.count;
  const toQuiet = (load: string, { draining, control }: ReturnType<typeof ratioToQuiet>): Goal => ({
    title: `admission p99 while ${load}: below ${RATIO} times that without drains`,
    measured: `${draining.toFixed(2)}; that of the control: ${control.toFixed(2)}`,
    met: draining < RATIO,
  });
  const toControl = (load: string, rounds: AdmissionRounds): Goal => ({
    title: `admission p99 while ${load}: below ${RATIO} times that of the control at the same time`,
    measured: ratioToControl(rounds).toFixed(2),
    met: ratioToControl(rounds) < RATIO,
  });
  return [
    {
      title: "every Pod is notified of its withdrawal",
      measured: `${reported} of ${streams}`,
      met: reported === streams,
    },
    withdrawalGoal("beside admissions", withdrawalMs.beside),
    withdrawalGoal("alone", withdrawalMs.alone),
    toQuiet("slices change", ratioToQuiet(results, admissions.events)),
    toControl("slices change", admissions.events),
    toQuiet("streams open", ratioToQuiet(results, admissions.opening)),
    toControl("streams open", admissions.opening),
  ];
}

function withdrawalGoal(when: string, { p99 }: Spread): Goal {
  return {
    title: `from slice written to line read, ${when}: p99 at most ${WITHDRAWAL_P99_MS} ms`,
    measured: `${p99.toFixed(1)} ms`,
    met: p99 <= WITHDRAWAL_P99_MS,
  };
}
