/** Decides from drain records whether connections were cut when a workload's Pods terminated. Pure. */
import { type DrainRecord, isRunning } from "../../drain-history/drain-record.ts";
import { releaseMs, resetsText } from "../../drain-history/report-text.ts";
import { spanText } from "../../drain-history/time-text.ts";
import { alignedRows } from "../terminal-text.ts";

export type EndedPod = {
  readonly pod: string;
  readonly uid: string;
  /** `undefined` if no replica has a report of the Pod. */
  readonly record: DrainRecord | undefined;
};

export type PodResult = "passed" | "cut" | "unknown";

/** @param allowProbes whether a Pod passes if refused probes of the kubelet can explain all its resets */
export function resultOf({ record }: EndedPod, allowProbes: boolean): PodResult {
  const resets = record?.report.resets;
  if (resets === undefined) return "unknown";
  return resets.stopping <= (allowProbes ? resets.probes : 0) ? "passed" : "cut";
}

/** Container restarts and running drains are not ends of Pods. The last record of a Pod counts. */
export function endedPods(
  records: readonly DrainRecord[],
  seenTerminating: ReadonlyMap<string, string>,
): readonly EndedPod[] {
  const pods = new Map<string, EndedPod>();
  for (const [uid, pod] of seenTerminating) pods.set(uid, { pod, uid, record: undefined });
  const oldestFirst = records.toSorted((left, right) => left.endedAtMs - right.endedAtMs);
  for (const record of oldestFirst) {
    if (record.report.outcome === "restarted" || isRunning(record)) continue;
    pods.set(record.uid, { pod: record.pod, uid: record.uid, record });
  }
  return [...pods.values()];
}

export function resultText({ record }: EndedPod): string {
  if (record === undefined) return "no replica has a report of its drain";
  const { resets } = record.report;
  if (resets !== undefined) return `cut ${resetsText(resets)}`;
  return record.report.outcome === "lost" ? "its manager was killed" : "no replica has a report of its end";
}

const COLUMNS = ["POD", "OUTCOME", "TOOK", "STOP", "RESULT"] as const;

export function podTable(pods: readonly EndedPod[]): readonly string[] {
  return alignedRows([COLUMNS, ...pods.map(cellsOf)]);
}

function cellsOf(pod: EndedPod): readonly string[] {
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

export function summaryOf(workload: string, pods: readonly EndedPod[], allowProbes: boolean): string {
  const count = (wanted: PodResult): number => pods.filter((pod) => resultOf(pod, allowProbes) === wanted).length;
  const ended = pods.length === 1 ? "1 Pod ended" : `${pods.length} Pods ended`;
  const cut = count("cut");
  const unknown = count("unknown");
  if (cut === 0 && unknown === 0) return `${workload}: ${ended} and cut no connection`;
  const parts = [
    ...(cut > 0 ? [`${cut} of them may have cut connections`] : []),
    ...(unknown > 0 ? [`the result of ${unknown} is unknown`] : []),
  ];
  return `${workload}: ${ended}; ${parts.join(", and ")}`;
}
