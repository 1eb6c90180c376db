/** Runs `lastcall verify`: waits for the rollout and for the reports of the Pods that it terminated, and prints the result. */
import type { DrainRecord } from "../../drain-history/drain-record.ts";
import { mergeDrains } from "../../drain-history/merge.ts";
import type { ClusterSource } from "../cluster-flags.ts";
import type { ClusterConnection } from "../drain-ports.ts";
import { printProblems } from "../drains/drains-command.ts";
import { readClusterDrains } from "../drains/drains-reader.ts";
import { createProblemReporter } from "../drains/watch-drains.ts";
import { EXIT_CHECK_ERROR, EXIT_DONE, EXIT_FINDINGS } from "../exit-statuses.ts";
import type { Ports } from "../ports.ts";
import { jsonText, printable } from "../terminal-text.ts";
import { assertInjected, type Rollout, readRollout, Unverifiable } from "./rollout.ts";
import { podTable, resultOf, resultText, summaryOf, type TerminatedPod, terminatedPods } from "./verification.ts";
import { nameOf, uidOf, type Workload } from "./workload.ts";

export type VerifyRequest = ClusterSource & {
  readonly workload: Workload;
  readonly namespace: string;
  /** `undefined`: since the creation of the newest revision. */
  readonly sinceMs: number | undefined;
  readonly timeoutMs: number;
  readonly allowProbes: boolean;
  readonly json: boolean;
};

const POLL_MS = 2_000;
/** For workloads without revisions. */
const DEFAULT_SINCE_MS = 3_600_000;
/** The clocks of the API server and of the relay's replicas may differ. */
const CLOCK_SKEW_MS = 5_000;
/** A manager sends its last report within half a second after the other containers have exited. */
const LATE_REPORT_MS = 10_000;

type Cluster = Extract<ClusterConnection, { ok: true }>;

export async function runVerify(request: VerifyRequest, ports: Ports): Promise<number> {
  const connection = await ports.drains.connect(request.choice);
  if (!connection.ok) return reportFailure([connection.message], ports);
  try {
    return await verify(request, connection, ports);
  } catch (error) {
    if (error instanceof Unverifiable) return reportFailure(error.problems, ports);
    throw error;
  } finally {
    connection.close();
  }
}

function reportFailure(problems: readonly string[], ports: Ports): number {
  printProblems("error", problems, ports);
  return EXIT_CHECK_ERROR;
}

async function verify(request: VerifyRequest, cluster: Cluster, ports: Ports): Promise<number> {
  const { nowMs, sleep, interruptSignal } = ports.drains;
  const { workload, namespace } = request;
  const signal = interruptSignal();
  const startedMs = nowMs();
  const terminatingNamesByUid = new Map<string, string>();
  const readReports = createReportReader(request, cluster, ports, startedMs);
  let completeSinceMs: number | undefined;
  while (!signal.aborted) {
    const rollout = await readRollout(cluster.request, { workload, namespace, signal });
    for (const pod of rollout.terminating) terminatingNamesByUid.set(uidOf(pod), nameOf(pod));
    const isLate = nowMs() - startedMs >= request.timeoutMs;
    completeSinceMs = rollout.progress === "" ? (completeSinceMs ?? nowMs()) : undefined;
    if (completeSinceMs !== undefined) {
      const pods = terminatedPods(await readReports(rollout, signal), terminatingNamesByUid);
      const areAllReported = pods.every((pod) => resultOf(pod, request.allowProbes) !== "unknown");
      if (areAllReported || isLate || nowMs() - completeSinceMs >= LATE_REPORT_MS) {
        assertInjected(rollout, workload);
        return printResult(request, pods, ports);
      }
    } else if (isLate) throw new Unverifiable([`${workload.text}: the rollout is not complete: ${rollout.progress}`]);
    await sleep(POLL_MS, signal);
  }
  throw new Unverifiable(["interrupted"]);
}

type ReadReports = (rollout: Rollout, signal: AbortSignal) => Promise<readonly DrainRecord[]>;

function createReportReader(request: VerifyRequest, cluster: Cluster, ports: Ports, startedMs: number): ReadReports {
  const { lastcallNamespace, namespace } = request;
  const reportProblems = createProblemReporter(ports);
  return async (rollout, signal) => {
    const reading = await readClusterDrains(cluster, { lastcallNamespace, namespace, signal });
    if (!reading.ok) throw new Unverifiable(reading.problems);
    reportProblems(reading, false);
    const fromMs = earliestEndMs(request, rollout, startedMs) - CLOCK_SKEW_MS;
    return mergeDrains(reading.drainLists).filter((record) => isOfRollout(record, rollout.owners, fromMs));
  };
}

function earliestEndMs({ sinceMs }: VerifyRequest, { newestRevisionMs }: Rollout, startedMs: number): number {
  if (sinceMs !== undefined) return startedMs - sinceMs;
  return newestRevisionMs ?? startedMs - DEFAULT_SINCE_MS;
}

function isOfRollout(
  { ownerKind, ownerName, endedAtMs }: DrainRecord,
  owners: ReadonlySet<string>,
  fromMs: number,
): boolean {
  return owners.has(`${ownerKind}/${ownerName}`) && endedAtMs >= fromMs;
}

function printResult(
  { workload, namespace, allowProbes, json }: VerifyRequest,
  pods: readonly TerminatedPod[],
  ports: Ports,
): number {
  const isPassed = pods.every((pod) => resultOf(pod, allowProbes) === "passed");
  if (json) {
    const results = pods.map((pod) => ({
      pod: pod.pod,
      uid: pod.uid,
      result: resultOf(pod, allowProbes),
      reason: resultText(pod),
      outcome: pod.record?.report.outcome,
      resets: pod.record?.report.resets,
    }));
    ports.out(`${jsonText({ version: 1, workload: workload.text, namespace, passed: isPassed, pods: results })}\n`);
  } else {
    const lines = [...(pods.length === 0 ? [] : podTable(pods)), summaryOf(workload.text, pods, allowProbes)];
    ports.out(lines.map((line) => `${printable(line)}\n`).join(""));
  }
  return isPassed ? EXIT_DONE : EXIT_FINDINGS;
}
