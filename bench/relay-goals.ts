/** What the relay should cost at most, and whether a run kept to it. */
import { type AdmissionRounds, type RelayFigures, type Spread, timesAside, timesQuiet } from "./relay-figures.ts";

export type Goal = { readonly goal: string; readonly found: string; readonly met: boolean };

const TOLD_P99_MS = 250;
/** Admissions must not wait twice as long because Pods drain: not as in quiet, and not as beside the relay's process. */
const TIMES = 2;

export function goalsOf(figures: RelayFigures): readonly Goal[] {
  const { streams, told, admissions } = figures;
  const heard = told.beside.count + told.alone.count + told.burst.count;
  const times = (doing: string, { here, aside }: ReturnType<typeof timesQuiet>): Goal => ({
    goal: `admission p99 while ${doing}: below ${TIMES} times that in quiet`,
    found: `${here.toFixed(2)}; meanwhile that of a webhook without drains: ${aside.toFixed(2)}`,
    met: here < TIMES,
  });
  const beside = (doing: string, rounds: AdmissionRounds): Goal => ({
    goal: `admission p99 while ${doing}: below ${TIMES} times that of another process at the same time`,
    found: timesAside(rounds).toFixed(2),
    met: timesAside(rounds) < TIMES,
  });
  return [
    { goal: "every Pod is told that it is out", found: `${heard} of ${streams}`, met: heard === streams },
    toldGoal("beside admissions", told.beside),
    toldGoal("alone", told.alone),
    times("slices change", timesQuiet(figures, admissions.events)),
    beside("slices change", admissions.events),
    times("streams begin", timesQuiet(figures, admissions.opening)),
    beside("streams begin", admissions.opening),
  ];
}

function toldGoal(when: string, { p99 }: Spread): Goal {
  return {
    goal: `from slice written to line read, ${when}: p99 at most ${TOLD_P99_MS} ms`,
    found: `${p99.toFixed(1)} ms`,
    met: p99 <= TOLD_P99_MS,
  };
}
