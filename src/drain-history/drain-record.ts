/** A drain as the relay remembers it and as people look at it. */
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
  /** Kind and name of the controller owner; empty when there is none. */
  readonly ownerKind: string;
  readonly ownerName: string;
  /** Wall clock of the replica that took the report, milliseconds: the end of the drain. */
  readonly endedAtMs: number;
  readonly report: RecordedReport;
};
