/** What admissions should cost at most, and whether a run kept to it. */
import type { AdmissionFigures } from "./admission-text.ts";

export type Goal = { readonly goal: string; readonly found: string; readonly met: boolean };

const SMALL_SHARE = 0.6;
const LARGE_SHARE = 0.85;
const HALF_LOAD_P99_MS = 3;
const IDLE_BYTES = 80e6;
/** Memory breathes with the collector; more than this is a leak. */
const SOAK_GROWTH = 1.05;

export function goalsOf(figures: AdmissionFigures): readonly Goal[] {
  const { shareOfFloor, small, idle, soakBytes, soakRequests } = figures;
  const p99Ms = small.find((row) => row.server === "webhook")?.halfLoadP99Ms ?? Number.POSITIVE_INFINITY;
  // A release is bundled; running from sources keeps the compiler in memory.
  const idleBytes = idle[0]?.bytes ?? Number.POSITIVE_INFINITY;
  const growth = (soakBytes.at(-1) ?? Number.POSITIVE_INFINITY) / (soakBytes[0] ?? 1);
  return [
    {
      goal: "small Pod: at least 60 % of the floor",
      found: percent(shareOfFloor.small),
      met: shareOfFloor.small >= SMALL_SHARE,
    },
    {
      goal: "large Pod: at least 85 % of the floor",
      found: percent(shareOfFloor.large),
      met: shareOfFloor.large >= LARGE_SHARE,
    },
    {
      goal: "small Pod at half load: p99 at most 3 ms",
      found: `${p99Ms.toFixed(2)} ms`,
      met: p99Ms <= HALF_LOAD_P99_MS,
    },
    {
      goal: "idle memory, bundled: at most 80 MB",
      found: `${(idleBytes / 1e6).toFixed(1)} MB`,
      met: idleBytes <= IDLE_BYTES,
    },
    {
      goal: `memory after ${soakRequests} requests: at most 105 % of before`,
      found: percent(growth),
      met: growth <= SOAK_GROWTH,
    },
  ];
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}
