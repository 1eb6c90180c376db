/** How long the machine kept this process from its turn: a clock that should tick steadily, and does not. */

const BEAT_MS = 50;

/** @returns ends the watch, and tells all lateness since its start, in milliseconds */
export function watchLag(): () => number {
  let dueMs = performance.now() + BEAT_MS;
  let lateMs = 0;
  const beat = () => {
    lateMs += Math.max(0, performance.now() - dueMs);
    dueMs = performance.now() + BEAT_MS;
  };
  const timer = setInterval(beat, BEAT_MS);
  return () => {
    clearInterval(timer);
    beat();
    return lateMs;
  };
}
