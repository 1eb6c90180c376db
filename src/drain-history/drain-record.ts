/** Defines the drain record that a relay keeps and the drain tools display. */
import type { DrainOutcome, DrainReport } from "../contract/drain-report.ts";

/** `lost`: the manager was killed during the drain. The relay records this outcome; a manager never reports it (decision 46). */
export type RecordedOutcome = DrainOutcome | "lost";

export type RecordedReport = Omit<DrainReport, "outcome"> & { readonly outcome: RecordedOutcome };

/** Whether the drain had not ended when it was reported. */
export function isRunning({ report }: Pick<DrainRecord, "report">): boolean {
  return report.outcome === "none";
}

export type DrainRecord = {
  /** Unique among replicas: at most 64 letters, digits and dashes. */
  readonly id: string;
  readonly namespace: string;
  readonly pod: string;
  readonly uid: string;
  readonly ownerKind: string;
  readonly ownerName: string;
  /**
   * End of the drain in milliseconds, by the wall clock of the replica that received the report. For a running drain, the time of its
   * last report.
   */
  readonly endedAtMs: number;
  readonly report: RecordedReport;
};
