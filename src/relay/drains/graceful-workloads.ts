/**
 * Records the workloads whose last Pods stopped cleanly: no connection was reset, although clients kept sending requests. Pure.
 */
import type { ResetsReport } from "../../contract/drain-report.ts";
import type { CredentialClaims } from "../../contract/relay-wire.ts";
import type { DrainRecord } from "../../drain-history/drain-record.ts";

/**
 * Number of Pods that have to stop cleanly. Fewer Pods prove little: an app that closes connections abruptly does not lose a
 * request if it stops between two requests.
 */
export const CLEAN_STOPS = 3;
/**
 * 5 000 workloads take about 3 MB. Beyond the limit, the workload whose last stop is the oldest is dropped, and its next drains
 * wait for the whole patience.
 */
const WORKLOAD_LIMIT = 5_000;

type Owner = Pick<CredentialClaims, "namespace" | "ownerKind" | "ownerName">;

export type GracefulWorkloads = {
  /** A repeated report counts once. @returns whether the stop changed the result of `isGraceful` */
  readonly recordStop: (record: Owner & Pick<DrainRecord, "uid" | "report">) => boolean;
  readonly isGraceful: (owner: Owner) => boolean;
};

export function createGracefulWorkloads(limit: number = WORKLOAD_LIMIT): GracefulWorkloads {
  // The uids of the last Pods that stopped cleanly. The workload with the oldest stop is first.
  const workloads = new Map<string, readonly string[]>();
  const isKnownGraceful = (key: string): boolean => (workloads.get(key)?.length ?? 0) >= CLEAN_STOPS;

  const addCleanStop = (key: string, uid: string): void => {
    const uids = (workloads.get(key) ?? []).filter((cleanUid) => cleanUid !== uid);
    workloads.delete(key);
    workloads.set(key, [...uids, uid].slice(-CLEAN_STOPS));
    const [oldest] = workloads.keys();
    if (workloads.size > limit && oldest !== undefined) workloads.delete(oldest);
  };

  return {
    recordStop: (record) => {
      const { outcome, resets } = record.report;
      if (record.ownerName === "" || resets === undefined) return false;
      const key = workloadKey(record);
      const wasGraceful = isKnownGraceful(key);
      if (resets.stopping > resets.probes) workloads.delete(key);
      // Only a hand-over proves that clients were still sending requests.
      else if (outcome === "handed-over" && isClean(resets)) addCleanStop(key, record.uid);
      return isKnownGraceful(key) !== wasGraceful;
    },
    isGraceful: (owner) => isKnownGraceful(workloadKey(owner)),
  };
}

/** The shortest period of a probe: an app that takes longer to stop, and has closed its port, refuses a probe at each stop. */
const SHORTEST_PROBE_PERIOD_MS = 1_000;

/**
 * Call it only if there were at most as many resets as probes. If the app stopped fast, a reset may have affected a client instead of a
 * probe, so the stop is not clean.
 */
function isClean({ stopping, stoppingMs }: ResetsReport): boolean {
  return stopping === 0 || stoppingMs >= SHORTEST_PROBE_PERIOD_MS;
}

/** The end of a ReplicaSet's name: Kubernetes encodes the hash of a Pod template without vowels and without 0, 1 and 3. */
const TEMPLATE_HASH = /-[bcdfghjklmnpqrstvwxz2456789]{1,10}$/;

/**
 * The Pods of all ReplicaSets of a Deployment share one entry, because a rollout stops Pods of one ReplicaSet and starts Pods of
 * another.
 */
function workloadKey({ namespace, ownerKind, ownerName }: Owner): string {
  const name = ownerKind === "ReplicaSet" ? ownerName.replace(TEMPLATE_HASH, "") : ownerName;
  return JSON.stringify([namespace, ownerKind, name]);
}
