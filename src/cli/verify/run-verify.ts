/** Runs `lastcall verify`: waits for the rollout and for the reports of its ended Pods, and prints the result. */

import type { SendRequest } from "../../api-server/api-request.ts";
import { MANAGER_CONTAINER } from "../../contract/manager-environment.ts";
import type { DrainRecord } from "../../drain-history/drain-record.ts";
import { mergeDrains } from "../../drain-history/merge.ts";
import { isRawObject, objectAt, objectsAt, type RawObject, textAt } from "../../kubernetes/raw-json.ts";
import type { ClusterChoice, Connected } from "../drain-ports.ts";
import { fetchClusterDrains } from "../drains/drains-reader.ts";
import { getJson } from "../drains/get-json.ts";
import { EXIT_CHECK_ERROR, EXIT_DONE, EXIT_FINDINGS } from "../exit-statuses.ts";
import type { Ports } from "../ports.ts";
import { jsonText, printable } from "../terminal-text.ts";
import { type EndedPod, endedPods, podTable, resultOf, resultText, summaryOf } from "./verification.ts";
import { nameOf, newestCreationMs, ownedBy, podOwners, podsOf, rolloutProgress, type Workload } from "./workload.ts";

export type VerifyRequest = {
  readonly workload: Workload;
  readonly namespace: string;
  /** `undefined`: since the creation of the newest revision. */
  readonly sinceMs: number | undefined;
  readonly timeoutMs: number;
  readonly allowProbes: boolean;
  readonly json: boolean;
  readonly choice: ClusterChoice;
  readonly lastcallNamespace: string | undefined;
};

const POLL_MS = 2_000;
const READ_LIMIT_MS = 10_000;
/** For workloads without revisions. */
const DEFAULT_SINCE_MS = 3_600_000;
/** The clocks of the API server and of the relay's replicas may differ. */
const CLOCK_SKEW_MS = 5_000;
/** A manager sends its last report within half a second of its Pod's end. */
const LATE_REPORT_MS = 10_000;

/** A problem that ends the command; the message has a place, and a remedy if there is one. */
class Unverifiable extends Error {}

type Cluster = Extract<Connected, { ok: true }>;

export async function runVerify(request: VerifyRequest, ports: Ports): Promise<number> {
  const connection = await ports.drains.connect(request.choice);
  if (!connection.ok) return fail(connection.message, ports);
  try {
    return await verify(request, connection, ports);
  } catch (error) {
    if (error instanceof Unverifiable) return fail(error.message, ports);
    throw error;
  } finally {
    connection.close();
  }
}

function fail(message: string, ports: Ports): number {
  ports.err(`error: ${printable(message)}\n`);
  return EXIT_CHECK_ERROR;
}

type Rollout = {
  /** Empty if the rollout is complete and no Pod is terminating. */
  readonly progress: string;
  readonly owners: ReadonlySet<string>;
  readonly pods: readonly RawObject[];
  readonly terminating: readonly RawObject[];
  readonly newestRevisionMs: number | undefined;
};

async function verify(request: VerifyRequest, cluster: Cluster, ports: Ports): Promise<number> {
  const { nowMs, sleep, interruptSignal } = ports.drains;
  const signal = interruptSignal();
  const startedMs = nowMs();
  const seenTerminating = new Map<string, string>();
  const readReports = createReportReader(request, cluster, ports, startedMs);
  let completeSinceMs: number | undefined;
  while (!signal.aborted) {
    const rollout = await readRollout(request, cluster.request, signal);
    for (const pod of rollout.terminating) seenTerminating.set(uidOf(pod), nameOf(pod));
    const isLate = nowMs() - startedMs >= request.timeoutMs;
    completeSinceMs = rollout.progress === "" ? (completeSinceMs ?? nowMs()) : undefined;
    if (completeSinceMs !== undefined) {
      const pods = endedPods(await readReports(rollout, signal), seenTerminating);
      const areAllReported = pods.every((pod) => resultOf(pod, request.allowProbes) !== "unknown");
      if (areAllReported || isLate || nowMs() - completeSinceMs >= LATE_REPORT_MS)
        return printResult(request, pods, rollout, ports);
    } else if (isLate)
      throw new Unverifiable(`${request.workload.text}: the rollout is not complete: ${rollout.progress}`);
    await sleep(POLL_MS, signal);
  }
  throw new Unverifiable("interrupted");
}

type ReadReports = (rollout: Rollout, signal: AbortSignal) => Promise<readonly DrainRecord[]>;

/** Prints each new problem of a replica once. */
function createReportReader(request: VerifyRequest, cluster: Cluster, ports: Ports, startedMs: number): ReadReports {
  const { lastcallNamespace, namespace } = request;
  let reported: readonly string[] = [];
  return async (rollout, signal) => {
    const { lists, problems } = await fetchClusterDrains(cluster, { lastcallNamespace, namespace, signal });
    for (const problem of problems) if (!reported.includes(problem)) ports.err(`warning: ${printable(problem)}\n`);
    reported = problems;
    if (lists.length === 0) throw new Unverifiable(`no lastcall replica at ${cluster.server} returned its drains`);
    const fromMs = fromOf(request, rollout, startedMs) - CLOCK_SKEW_MS;
    return mergeDrains(lists).filter((record) => isOfRollout(record, rollout.owners, fromMs));
  };
}

function terminatingText(pods: readonly RawObject[]): string {
  if (pods.length === 0) return "";
  return pods.length === 1 ? "1 Pod is terminating" : `${pods.length} Pods are terminating`;
}

function uidOf(pod: RawObject): string {
  return textAt(objectAt(pod, "metadata"), "uid") ?? "";
}

function isTerminating(pod: RawObject): boolean {
  return textAt(objectAt(pod, "metadata"), "deletionTimestamp") !== undefined;
}

function fromOf({ sinceMs }: VerifyRequest, { newestRevisionMs }: Rollout, startedMs: number): number {
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

async function readRollout(
  { workload, namespace }: VerifyRequest,
  send: SendRequest,
  signal: AbortSignal,
): Promise<Rollout> {
  const apps = `/apis/apps/v1/namespaces/${namespace}`;
  const read = async (path: string, what: string): Promise<RawObject> => {
    const response = await getJson(send, { path, limitMs: READ_LIMIT_MS, signal });
    if (!response.ok) throw new Unverifiable(`cannot read ${what} in namespace ${namespace}: ${response.message}`);
    return isRawObject(response.value) ? response.value : {};
  };
  const list = async (path: string, what: string) => objectsAt(await read(path, what), "items");
  const { resource, revisions: revisionKind } = workload;
  const object = resource === undefined ? undefined : await read(`${apps}/${resource}/${workload.name}`, workload.text);
  const revisions = revisionKind === undefined ? [] : await list(`${apps}/${revisionKind}`, revisionKind);
  const pods = await list(`/api/v1/namespaces/${namespace}/pods`, "Pods");
  const owners = podOwners(workload, revisionKind === "replicasets" ? revisions : []);
  const owned = ownedBy(workload, revisions);
  const workloadPods = podsOf(owners, pods);
  const terminating = workloadPods.filter(isTerminating);
  if (object === undefined && owned.length === 0 && workloadPods.length === 0)
    throw new Unverifiable(`namespace ${namespace} has no Pods or ReplicaSets of ${workload.text}`);
  return {
    progress: (object === undefined ? "" : rolloutProgress(object)) || terminatingText(terminating),
    owners,
    pods: workloadPods,
    terminating,
    newestRevisionMs: newestCreationMs(owned),
  };
}

function isInjected(pod: RawObject): boolean {
  const spec = objectAt(pod, "spec");
  const containers = [...objectsAt(spec, "initContainers"), ...objectsAt(spec, "containers")];
  return containers.some((container) => textAt(container, "name") === MANAGER_CONTAINER);
}

function printResult(request: VerifyRequest, pods: readonly EndedPod[], rollout: Rollout, ports: Ports): number {
  const { workload, namespace, allowProbes } = request;
  const injected = rollout.pods.filter(isInjected).length;
  if (injected < rollout.pods.length) {
    const notInjected = `${rollout.pods.length - injected} of ${rollout.pods.length} Pods of ${workload.text} are not injected`;
    throw new Unverifiable(
      `${notInjected}, so the next rollout cannot be verified; run lastcall explain for the reason`,
    );
  }
  const isPassed = pods.every((pod) => resultOf(pod, allowProbes) === "passed");
  if (request.json) {
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
    if (pods.length > 0)
      ports.out(
        podTable(pods)
          .map((line) => `${printable(line)}\n`)
          .join(""),
      );
    ports.out(`${printable(summaryOf(workload.text, pods, allowProbes))}\n`);
  }
  return isPassed ? EXIT_DONE : EXIT_FINDINGS;
}
