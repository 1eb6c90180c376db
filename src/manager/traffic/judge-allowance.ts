/** How many connections the kubelet's probes may explain. */
import type { KubeletProbe } from "../../contract/drain-settings.ts";

type Allowance = {
  /** Called once at every look, before anything is taken. */
  readonly fill: (nowMs: number) => void;
  /** Takes up to `wanted` connections. @returns how many were allowed */
  readonly take: (wanted: number) => number;
  /** Takes all `wanted` or, where that is more than probes can explain, nothing: then it was traffic. */
  readonly takeAll: (wanted: number) => boolean;
};

/**
 * Fills at the probes' own rate, and what came since the last look is never cut off: looks are rare at the beginning of
 * a drain. Each probe may come at once, and one more covers two that fall unevenly.
 */
export function createAllowance(probes: readonly KubeletProbe[]): Allowance {
  let perMs = 0;
  for (const probe of probes) if (probe.periodMs > 0) perMs = perMs + 1 / probe.periodMs;
  const capacity = perMs > 0 ? probes.length + 1 : 0;
  let left = capacity;
  let filledAtMs = -1;
  return {
    fill: (nowMs) => {
      const sinceMs = filledAtMs < 0 ? 0 : Math.max(0, nowMs - filledAtMs);
      left = Math.min(capacity, left) + sinceMs * perMs;
      filledAtMs = nowMs;
    },
    take: (wanted) => {
      const taken = Math.max(0, Math.min(wanted, Math.floor(left)));
      left = left - taken;
      return taken;
    },
    takeAll: (wanted) => {
      if (wanted > left) return false;
      left = left - wanted;
      return true;
    },
  };
}
