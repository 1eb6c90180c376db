/** How many connections the kubelet's probes may explain. */
import type { KubeletProbe } from "../../contract/drain-settings.ts";

export type Allowance = {
  /** Takes up to `wanted` connections. @returns how many were allowed */
  readonly take: (wanted: number, nowMs: number) => number;
};

/**
 * A probe is dated by the look that finds it, so two of one period may seem closer than they were. Half a connection
 * may be owed; the next one must make up for it, so the probes' own rate still decides in the long run.
 */
const OWED = 0.5;

/**
 * Fills at the probes' own rate, and never counts fewer than the time since the last call explains: looks are rare at
 * the beginning of a drain. Each probe may come at once, and one more covers two that fall unevenly.
 */
export function createAllowance(probes: readonly KubeletProbe[]): Allowance {
  let perMs = 0;
  for (const probe of probes) if (probe.periodMs > 0) perMs = perMs + 1 / probe.periodMs;
  const capacity = perMs > 0 ? probes.length + 1 : 0;
  let left = capacity;
  let filledAtMs = -1;
  return {
    take: (wanted, nowMs) => {
      const sinceMs = filledAtMs < 0 ? 0 : Math.max(0, nowMs - filledAtMs);
      left = Math.min(capacity, left) + sinceMs * perMs;
      filledAtMs = nowMs;
      const owed = capacity > 0 ? OWED : 0;
      const taken = Math.max(0, Math.min(wanted, Math.floor(left + owed)));
      left = left - taken;
      return taken;
    },
  };
}
