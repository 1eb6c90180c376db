/** When the machine kept the one who measures from his turn: what he saw then, he saw late. */

const BEAT_MS = 20;
/** Timers are that late on an idle machine. */
const USUAL_MS = 3;

export type LagLog = {
  /** All lateness of the time between, in milliseconds. */
  readonly between: (fromMs: number, toMs: number) => number;
  readonly stop: () => void;
};

type Late = { readonly atMs: number; readonly ms: number };

export function startLagLog(): LagLog {
  const lates: Late[] = [];
  let dueMs = performance.now() + BEAT_MS;
  const beat = () => {
    const atMs = performance.now();
    if (atMs - dueMs > USUAL_MS) lates.push({ atMs, ms: atMs - dueMs });
    dueMs = atMs + BEAT_MS;
  };
  const timer = setInterval(beat, BEAT_MS);
  return {
    // A pause that lay across the edge counts whole: nobody knows which part of it hurt.
    between: (fromMs, toMs) =>
      lates.filter(({ atMs, ms }) => atMs >= fromMs && atMs - ms <= toMs).reduce((sum, { ms }) => sum + ms, 0),
    stop: () => clearInterval(timer),
  };
}
