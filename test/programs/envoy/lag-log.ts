/**
 * When the machine kept someone from his turn: the one who measures, whose clock then ticks late, and those he measures,
 * whom the kernel saw ready and waiting. What a drain lasts longer by that is not the drain's.
 */

const BEAT_MS = 20;
/** Timers are that late on an idle machine. */
const USUAL_MS = 3;

type LagLog = {
  /** All that the time between has cost, in milliseconds. */
  readonly between: (fromMs: number, toMs: number) => number;
  readonly stop: () => void;
};

type Beat = { readonly atMs: number; readonly lateMs: number; readonly waitedMs: number };

/** @param waitedMs of those who are measured, since they started; it falls when one of them is gone */
export function startLagLog(waitedMs: () => number): LagLog {
  const beats: Beat[] = [];
  let dueMs = performance.now() + BEAT_MS;
  let before = waitedMs();
  const beat = () => {
    const atMs = performance.now();
    const now = waitedMs();
    const lateMs = atMs - dueMs > USUAL_MS ? atMs - dueMs : 0;
    beats.push({ atMs, lateMs, waitedMs: Math.max(0, now - before) });
    before = now;
    dueMs = performance.now() + BEAT_MS;
  };
  const timer = setInterval(beat, BEAT_MS);
  return {
    // A beat that lies across the edge counts whole: no one knows which part of it hurt.
    between: (fromMs, toMs) =>
      beats
        .filter(({ atMs, lateMs }) => atMs >= fromMs && atMs - lateMs - BEAT_MS <= toMs)
        .reduce((sum, one) => sum + one.lateMs + one.waitedMs, 0),
    stop: () => clearInterval(timer),
  };
}
