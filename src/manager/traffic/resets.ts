/** Counts the connections that were reset, refused, dropped, or closed before their response while a Pod stopped. */
import type { ResetsReport } from "../../contract/drain-report.ts";
import type { KubeletProbe } from "../../contract/drain-settings.ts";
import type { NowMs, ReadText } from "../ports.ts";
import type { DestroyedSockets } from "../sockets/destroyed-sockets.ts";
import { parseLosses, parseOpens } from "../sockets/kernel-counters.ts";
import type { TrafficMonitor } from "./traffic-monitor.ts";

export type ResetCounter = {
  /** Called at the trigger of a drain. */
  readonly markTrigger: () => void;
  /** Called before the apps' hooks are answered. @param openCount number of open connections; -1 if unknown */
  readonly markRelease: (openCount: number) => void;
  /** @returns `undefined` if the apps were not released, or the kernel's counters cannot be read */
  readonly report: () => ResetsReport | undefined;
};

/** For a shared network namespace, whose counters include other Pods, and for a classic manager, which exits before the app. */
export const NO_RESET_COUNTER: ResetCounter = {
  markTrigger: () => {},
  markRelease: () => {},
  report: () => undefined,
};

type ResetCounterParts = {
  readonly readText: ReadText;
  readonly nowMs: NowMs;
  readonly probes: readonly KubeletProbe[];
  readonly destroyed: DestroyedSockets;
  readonly monitor: Pick<TrafficMonitor, "isClientSocket" | "isClosedUnanswered">;
};

type Counters = { readonly losses: number; readonly opens: number };

const UNKNOWN: Counters = { losses: -1, opens: -1 };

/** Does not read between the marks, because the kernel counts resets and queues notifications of destroyed sockets. */
export function createResetCounter({ readText, nowMs, probes, destroyed, monitor }: ResetCounterParts): ResetCounter {
  let atTrigger = UNKNOWN;
  let atRelease = UNKNOWN;
  let releasedAtMs = 0;
  let openAtRelease = -1;

  const readCounters = (): Counters => {
    const snmp = readText("/proc/net/snmp") ?? "";
    const { resets, drops } = parseLosses(snmp, readText("/proc/net/netstat") ?? "");
    return resets < 0 || drops < 0 ? UNKNOWN : { losses: resets + drops, opens: parseOpens(snmp).passive };
  };

  /** @returns an upper bound of the connections that closed before their response; -1 if no upper bound is known */
  const countUnanswered = (newConnections: number): number => {
    let endedCount = 0;
    let unansweredCount = 0;
    const isComplete = destroyed.readAll((socket) => {
      if (!monitor.isClientSocket(socket)) return;
      endedCount = endedCount + 1;
      if (monitor.isClosedUnanswered(socket)) unansweredCount = unansweredCount + 1;
    });
    if (isComplete) return unansweredCount;
    if (openAtRelease < 0) return -1;
    return unansweredCount + Math.max(0, openAtRelease + newConnections - endedCount);
  };

  return {
    markTrigger: () => {
      atTrigger = readCounters();
      atRelease = UNKNOWN;
    },
    markRelease: (openCount) => {
      destroyed.start();
      atRelease = readCounters();
      openAtRelease = openCount;
      releasedAtMs = nowMs();
    },
    report: () => {
      const atEnd = readCounters();
      const unansweredCount = countUnanswered(atEnd.opens - atRelease.opens);
      const isKnown = atTrigger.losses >= 0 && atRelease.losses >= atTrigger.losses && atEnd.losses >= atRelease.losses;
      if (!isKnown || unansweredCount < 0) return undefined;
      const resets = atEnd.losses - atRelease.losses;
      const stoppingMs = Math.max(0, Math.round(nowMs() - releasedAtMs));
      return {
        draining: atRelease.losses - atTrigger.losses,
        stopping: resets + unansweredCount,
        probes: Math.min(resets, probesWithin(probes, stoppingMs)),
        stoppingMs,
      };
    },
  };
}

/** The kubelet probes a terminating Pod until its end, even after the app has closed the probed port. */
function probesWithin(probes: readonly KubeletProbe[], durationMs: number): number {
  let count = 0;
  for (const probe of probes) if (probe.periodMs > 0) count = count + Math.floor(durationMs / probe.periodMs) + 1;
  return count;
}
