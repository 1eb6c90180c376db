/**
 * Logs the report of a drain and delivers it to the relay: when the drain ends, and again with the resets when the manager exits.
 * Also sends reports of the progress of a drain that takes more than 10 s.
 */
import type { DrainReport, ResetsReport } from "../contract/drain-report.ts";
import type { DrainSettings } from "../contract/drain-settings.ts";
import { whyNow } from "./drain/drain-reason.ts";
import { drainReportOf } from "./drain/drain-report-of.ts";
import { type DrainState, drainOf } from "./drain/drain-state.ts";
import { type Log, type LogSource, reportLine } from "./log-line.ts";
import { effectiveSettings } from "./manager-driver.ts";
import type { Driver, NowMs } from "./ports.ts";
import type { PreloadFlag } from "./preload-flag.ts";
import type { RelayClient } from "./relay/relay-client.ts";
import type { ResetCounter } from "./traffic/resets.ts";

type DrainReportsParts = {
  readonly settings: DrainSettings;
  readonly driver: Driver;
  readonly logSource: LogSource;
  readonly nowMs: NowMs;
  readonly resets: ResetCounter;
  readonly relay: RelayClient;
  readonly preloadFlag: PreloadFlag;
  readonly log: Log;
};

type DrainReports = {
  readonly reportOf: (state: DrainState) => DrainReport;
  /** Returns the report of the current state, in any phase. If a drain is running, the report contains why it continues. */
  readonly explainedReportOf: (state: DrainState) => DrainReport;
  /** Called at the trigger. @param readState is called at each report of the running drain */
  readonly startProgress: (readState: () => DrainState) => void;
  readonly publish: (state: DrainState) => void;
  /**
   * Waits for the delivery of the drain's report, then publishes the second report, with the connections reset at the stop, and
   * waits for its delivery. @param readState is called before the second report
   */
  readonly publishLast: (readState: () => DrainState, done: () => void) => void;
};

/**
 * Maximum times for which the manager's exit waits for the delivery of the two reports. Both times and the runner's EXIT_DELAY_MS add
 * up to 500 ms.
 */
const FIRST_REPORT_LIMIT_MS = 100;
const SECOND_REPORT_LIMIT_MS = 380;
/** Longer than a drain without traffic takes with the default delays. The interval doubles with each report. */
const FIRST_PROGRESS_MS = 10_000;
const LONGEST_PROGRESS_MS = 3_600_000;

export function createDrainReports(parts: DrainReportsParts): DrainReports {
  const reportOf = (state: DrainState): DrainReport =>
    drainReportOf(state, parts.nowMs(), parts.preloadFlag.processCount(), parts.preloadFlag.missedProcessCount());

  const explainedReportOf = (state: DrainState): DrainReport => {
    const report = reportOf(state);
    return { ...report, why: whyNow(effectiveSettings(parts.driver, parts.settings), state, parts.nowMs()) };
  };

  const sendProgress = (state: DrainState): void => {
    const remainingMs = Math.max(0, Math.round((drainOf(state.phase)?.deadlineMs ?? 0) - parts.nowMs()));
    const report = explainedReportOf(state);
    parts.relay.sendProgress(JSON.stringify({ ...report, remainingMs }));
  };

  const publish = (state: DrainState, resets: ResetsReport | undefined): void => {
    const report: DrainReport = { ...reportOf(state), resets };
    parts.log(reportLine(parts.logSource, report));
    if (drainOf(state.phase) !== undefined) parts.relay.deliver(JSON.stringify(report));
  };

  const publishResets = (state: DrainState): void => {
    const resets = drainOf(state.phase) === undefined ? undefined : parts.resets.report();
    if (resets !== undefined) publish(state, resets);
  };

  let progressTimer: NodeJS.Timeout | null = null;
  const startProgress = (readState: () => DrainState, inMs: number): void => {
    if (progressTimer !== null) clearTimeout(progressTimer);
    progressTimer = setTimeout(() => {
      const phase = readState().phase.name;
      if (phase !== "withdrawing" && phase !== "draining") return;
      sendProgress(readState());
      startProgress(readState, Math.min(2 * inMs, LONGEST_PROGRESS_MS));
    }, inMs);
  };

  return {
    reportOf,
    explainedReportOf,
    startProgress: (readState) => startProgress(readState, FIRST_PROGRESS_MS),
    publish: (state) => publish(state, undefined),
    publishLast: (readState, done) => {
      parts.relay.awaitDelivery(FIRST_REPORT_LIMIT_MS, () => {
        publishResets(readState());
        parts.relay.awaitDelivery(SECOND_REPORT_LIMIT_MS, done);
      });
    },
  };
}
