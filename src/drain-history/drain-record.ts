/** A drain as the relay remembers it and as people look at it. */
import type { DrainReport } from "../contract/drain-report.ts";

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
  readonly report: DrainReport;
};
