/** How many connections the kubelet's probes may explain. */
import type { KubeletProbe } from "../../contract/drain-settings.ts";

export type Allowance = {
  /** Takes up to `wanted` connections. @returns how many were allowed */
  readonly take: (wanted: number, nowMs: number) => number;
};

/**
 * Fills at the probes' own rate. Each probe may come at once, and one connection more covers a look that falls between
 * two of them unevenly; in the long run the rate decides.
 */
export function createAllowance(probes: readonly KubeletProbe[]): Allowance {
  let perMs = 0;
  for (const probe of probes) if (probe.periodMs > 0) perMs = perMs + 1 / probe.periodMs;
  const capacity = perMs > 0 ? probes.length + 1 : 0;
  let left = capacity;
  let filledAtMs = 0;
  return {
    take: (wanted, nowMs) => {
      left = Math.min(capacity, left + Math.max(0, nowMs - filledAtMs) * perMs);
      filledAtMs = nowMs;
      const taken = Math.max(0, Math.min(wanted, Math.floor(left)));
      left = left - taken;
      return taken;
    },
  };
}
