/** Checks the results of the admission benchmark against its limits. */
import type { AdmissionResults } from "./admission-text.ts";

export type Goal = { readonly title: string; readonly measured: string; readonly met: boolean };

const MIN_SMALL_SHARE = 0.6;
const MIN_LARGE_SHARE = 0.85;
const MAX_HALF_LOAD_P99_MS = 3;
const MAX_IDLE_BYTES = 80e6;
/** Garbage collection changes the memory by up to 5 %. More growth indicates a leak. */
const MAX_SOAK_GROWTH = 1.05;

export function checkGoals(results: AdmissionResults): readonly Goal[] {
  const { shareOfBaseline, small, idle, soakBytes, soakRequests } = results;
  const p99Ms = small.find((row) => row.server === "webhook")?.halfLoadP99Ms ?? Number.POSITIVE_INFINITY;
  // The limit applies to the first entry, the bundle of a release: a run from sources also keeps the compiler in memory.
  const idleBytes = idle[0]?.bytes ?? Number.POSITIVE_INFINITY;
  const growth = (soakBytes.at(-1) ?? Number.POSITIVE_INFINITY) / (soakBytes[0] ?? 1);
  return [
    {
      title: "small Pod: at least 60 % of the baseline",
      measured: formatPercent(shareOfBaseline.small),
      met: shareOfBaseline.small >= MIN_SMALL_SHARE,
    },
    {
      title: "large Pod: at least 85 % of the baseline",
      measured: formatPercent(shareOfBaseline.large),
      met: shareOfBaseline.large >= MIN_LARGE_SHARE,
    },
    {
      title: "small Pod at half load: p99 at most 3 ms",
      measured: `${p99Ms.toFixed(2)} ms`,
      met: p99Ms <= MAX_HALF_LOAD_P99_MS,
    },
    {
      title: "idle memory, bundled: at most 80 MB",
      measured: `${(idleBytes / 1e6).toFixed(1)} MB`,
      met: idleBytes <= MAX_IDLE_BYTES,
    },
    {
      title: `memory after ${soakRequests} requests: at most 105 % of before`,
      measured: formatPercent(growth),
      met: growth <= MAX_SOAK_GROWTH,
    },
  ];
}

function formatPercent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}
