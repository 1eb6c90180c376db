/** Counts the connections that the Pod's network namespace reset, refused or dropped during the drain and the app's stop. */
import type { ResetsReport } from "../../contract/drain-report.ts";
import type { KubeletProbe } from "../../contract/drain-settings.ts";
import type { NowMs, ReadText } from "../ports.ts";
import { parseLosses } from "../sockets/kernel-counters.ts";

export type ResetCounter = {
  /** Called at the trigger of a drain. */
  readonly markTrigger: () => void;
  /** Called before the apps' hooks are answered. */
  readonly markRelease: () => void;
  /** @returns `undefined` without a trigger, and if the kernel's counters cannot be read */
  readonly report: () => ResetsReport | undefined;
};

/** The counters of a shared network namespace include other Pods. A classic manager ends before the app. */
export const NO_RESET_COUNTER: ResetCounter = {
  markTrigger: () => {},
  markRelease: () => {},
  report: () => undefined,
};

const UNKNOWN = -1;

/** Only the kernel counts, so nothing is read between the marks. */
export function createResetCounter(readText: ReadText, probes: readonly KubeletProbe[], nowMs: NowMs): ResetCounter {
  let atTrigger = UNKNOWN;
  let atRelease = UNKNOWN;
  let releasedAtMs = 0;

  const count = (): number => {
    const { resets, drops } = parseLosses(readText("/proc/net/snmp") ?? "", readText("/proc/net/netstat") ?? "");
    return resets < 0 || drops < 0 ? UNKNOWN : resets + drops;
  };

  return {
    markTrigger: () => {
      atTrigger = count();
      atRelease = atTrigger;
      releasedAtMs = nowMs();
    },
    markRelease: () => {
      atRelease = count();
      releasedAtMs = nowMs();
    },
    report: () => {
      const atEnd = count();
      if (atTrigger < 0 || atRelease < atTrigger || atEnd < atRelease) return undefined;
      const stopping = atEnd - atRelease;
      const stoppingMs = Math.max(0, Math.round(nowMs() - releasedAtMs));
      return {
        draining: atRelease - atTrigger,
        stopping,
        probes: Math.min(stopping, probesWithin(probes, stoppingMs)),
        stoppingMs,
      };
    },
  };
}

/** The kubelet probes a terminating Pod until its end, also after the app has closed the probed port. */
function probesWithin(probes: readonly KubeletProbe[], durationMs: number): number {
  let count = 0;
  for (const probe of probes) if (probe.periodMs > 0) count = count + Math.floor(durationMs / probe.periodMs) + 1;
  return count;
}
