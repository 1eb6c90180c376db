/** Logs the report of a drain and delivers it to the relay: when the drain ends, and again with the resets when the manager exits. */
import type { DrainReport, ResetsReport } from "../contract/drain-report.ts";
import { drainReportOf } from "./drain/drain-report-of.ts";
import { type DrainState, drainOf } from "./drain/drain-state.ts";
import { type Log, type LogSource, reportLine } from "./log-line.ts";
import type { NowMs } from "./ports.ts";
import type { PreloadFlag } from "./preload-flag.ts";
import type { RelayClient } from "./relay/relay-client.ts";
import type { ResetCounter } from "./traffic/resets.ts";

type DrainReportsParts = {
  readonly logSource: LogSource;
  readonly nowMs: NowMs;
  readonly resets: ResetCounter;
  readonly relay: RelayClient;
  readonly preloadFlag: PreloadFlag;
  readonly log: Log;
};

type DrainReports = {
  readonly current: (state: DrainState) => DrainReport;
  readonly publish: (state: DrainState) => void;
  /** Publishes the second report, and waits for the deliveries. @param state is called after the first delivery */
  readonly publishLast: (state: () => DrainState, done: () => void) => void;
};

/** Limits of the exit's delay by the two reports: with the runner's EXIT_DELAY_MS 500 ms in total. */
const FIRST_REPORT_LIMIT_MS = 100;
const SECOND_REPORT_LIMIT_MS = 380;

export function createDrainReports(parts: DrainReportsParts): DrainReports {
  const current = (state: DrainState): DrainReport =>
    drainReportOf(state, parts.nowMs(), parts.preloadFlag.processes(), parts.preloadFlag.missedProcesses());

  const publish = (state: DrainState, resets: ResetsReport | undefined): void => {
    const report: DrainReport = { ...current(state), resets };
    parts.log(reportLine(parts.logSource, report));
    if (drainOf(state.phase) !== undefined) parts.relay.deliver(JSON.stringify(report));
  };

  const publishResets = (state: DrainState): void => {
    const resets = drainOf(state.phase) === undefined ? undefined : parts.resets.report();
    if (resets !== undefined) publish(state, resets);
  };

  return {
    current,
    publish: (state) => publish(state, undefined),
    publishLast: (state, done) => {
      parts.relay.awaitDelivery(FIRST_REPORT_LIMIT_MS, () => {
        publishResets(state());
        parts.relay.awaitDelivery(SECOND_REPORT_LIMIT_MS, done);
      });
    },
  };
}
