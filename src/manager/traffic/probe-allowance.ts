/** Limits the number of connections that count as probes of the kubelet. */
import type { KubeletProbe } from "../../contract/drain-settings.ts";

type ProbeAllowance = {
  readonly refill: (nowMs: number) => void;
  /** @returns the number of connections that count as probes */
  readonly takeUpTo: (count: number) => number;
  /** Takes all or none, because more connections than the allowance include traffic. @returns whether all were taken */
  readonly takeAll: (count: number) => boolean;
};

/**
 * A token bucket that fills at the rate of the probes. Its capacity is all probes at once, plus one for jitter. The refill since the
 * last sample is not capped at the capacity, because several probe periods can pass between two samples at the start of a drain.
 */
export function createProbeAllowance(probes: readonly KubeletProbe[]): ProbeAllowance {
  let probesPerMs = 0;
  for (const probe of probes) if (probe.periodMs > 0) probesPerMs = probesPerMs + 1 / probe.periodMs;
  const capacity = probesPerMs > 0 ? probes.length + 1 : 0;
  let remaining = capacity;
  let filledAtMs = -1;
  return {
    refill: (nowMs) => {
      const sinceMs = filledAtMs < 0 ? 0 : Math.max(0, nowMs - filledAtMs);
      remaining = Math.min(capacity, remaining) + sinceMs * probesPerMs;
      filledAtMs = nowMs;
    },
    takeUpTo: (count) => {
      const takenCount = Math.max(0, Math.min(count, Math.floor(remaining)));
      remaining = remaining - takenCount;
      return takenCount;
    },
    takeAll: (count) => {
      if (count > remaining) return false;
      remaining = remaining - count;
      return true;
    },
  };
}
