/** The record of one drain, kept by the relay and shown by the command line and the page. */
import type { DrainOutcome, DrainReport } from "../contract/drain-report.ts";

/** `lost`: the manager died in the middle of the drain. A relay records it; a manager never reports it (decision 46). */
export type RecordedOutcome = DrainOutcome | "lost";

export type RecordedReport = Omit<DrainReport, "outcome"> & { readonly outcome: RecordedOutcome };

export type DrainRecord = {
  /** Unique among replicas: letters, digits and dashes; at most 64. */
  readonly id: string;
  readonly namespace: string;
  readonly pod: string;
  readonly uid: string;
  /** The Pod's controller; empty without one. */
  readonly ownerKind: string;
  readonly ownerName: string;
  /** End of the drain by the wall clock of the replica that received the report. */
  readonly endedAtMs: number;
  readonly report: RecordedReport;
};
