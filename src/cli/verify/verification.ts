/** Decides from drain records whether connections were cut when a workload's Pods terminated. Pure. */
import { type DrainRecord, isRunning } from "../../drain-history/drain-record.ts";
import { releaseMs, resetsText } from "../../drain-history/report-text.ts";
import { spanText } from "../../drain-history/time-text.ts";
import { alignRows } from "../terminal-text.ts";

export type TerminatedPod = {
  readonly pod: string;
  readonly uid: string;
  /** `undefined` if no replica has a report of the Pod. */
  readonly record: DrainRecord | undefined;
};

export type PodResult = "passed" | "cut" | "unknown";

/** @param allowProbes whether a Pod passes if refused probes of the kubelet can explain all its resets */
export function resultOf({ record }: TerminatedPod, allowProbes: boolean): PodResult {
  const resets = record?.report.resets;
  if (resets === undefined) return "unknown";
  return resets.stopping <= (allowProbes ? resets.probes : 0) ? "passed" : "cut";
}

/**
 * Skips records of container restarts and running drains, whose Pods have not terminated. The last record of a Pod replaces
 * earlier ones.
 */
export function terminatedPods(
  records: readonly DrainRecord[],
  observedTerminating: ReadonlyMap<string, string>,
): readonly TerminatedPod[] {
  const pods = new Map<string, TerminatedPod>();
  for (const [uid, pod] of observedTerminating) pods.set(uid, { pod, uid, record: undefined });
  const sortedRecords = records.toSorted((left, right) => left.endedAtMs - right.endedAtMs);
  for (const record of sortedRecords) {
    if (record.report.outcome === "restarted" || isRunning(record)) continue;
    pods.set(record.uid, { pod: record.pod, uid: record.uid, record });
  }
  return [...pods.values()];
}

export function resultText({ record }: TerminatedPod): string {
  if (record === undefined) return "no relay replica has a report of the Pod's drain";
  const { resets } = record.report;
  if (resets !== undefined) return `cut ${resetsText(resets)}`;
  return record.report.outcome === "lost"
    ? "its manager was killed"
    : "no relay replica has a report of the connections that the Pod cut";
}

const COLUMNS = ["POD", "OUTCOME", "TOOK", "STOP", "RESULT"] as const;

export function podTable(pods: readonly TerminatedPod[]): readonly string[] {
  return alignRows([COLUMNS, ...pods.map(cellsOf)]);
}

function cellsOf(pod: TerminatedPod): readonly string[] {
  const report = pod.record?.report;
  const { resets } = report ?? {};
  return [
    pod.pod,
    report?.outcome ?? "–",
    report === undefined ? "–" : spanText(releaseMs(report)),
    resets === undefined ? "–" : spanText(resets.stoppingMs),
    resultText(pod),
  ];
}

export function summaryOf(workload: string, pods: readonly TerminatedPod[], allowProbes: boolean): string {
  const count = (result: PodResult): number => pods.filter((pod) => resultOf(pod, allowProbes) === result).length;
  const terminatedText = pods.length === 1 ? "1 Pod terminated" : `${pods.length} Pods terminated`;
  const cutCount = count("cut");
  const unknownCount = count("unknown");
  if (cutCount === 0 && unknownCount === 0) return `${workload}: ${terminatedText} and did not cut a connection`;
  const parts = [
    ...(cutCount > 0 ? [`${cutCount} of them may have cut connections`] : []),
    ...(unknownCount > 0 ? [`the result of ${unknownCount} of them is unknown`] : []),
  ];
  return `${workload}: ${terminatedText}; ${parts.join(", and ")}`;
}
