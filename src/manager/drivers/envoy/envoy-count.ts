/** Reads Envoy's statistics, classifies failures, and detects traffic between two counts. */
import type { DrainSettings, KubeletProbe } from "../../../contract/drain-settings.ts";
import type { HttpEnd, HttpStream } from "../../http/http-client.ts";
import { adminTarget, type HttpTarget } from "../../http/http-target.ts";
import { createProbeAllowance } from "../../traffic/probe-allowance.ts";
import { STATS_PATH } from "./envoy-admin.ts";
import { createEnvoyStats, type EnvoyCount } from "./envoy-stats.ts";

/** Long enough to receive several megabytes, the size of the statistics of a large configuration. */
const TIMEOUT_MS = 2_000;

type CountResultKind = "counted" | "hung" | "absent" | "useless";

export type CountResult = {
  /**
   * `counted`: the count is valid. `hung`: a program runs but does not respond, so there may be traffic. `absent`: no program
   * responds, or a starting one does not have statistics yet. `useless`: the statistics will never be sufficient.
   */
  readonly kind: CountResultKind;
  readonly why: string;
  readonly count: EnvoyCount;
};

export function countRequests(
  stream: HttpStream,
  admin: HttpTarget,
  settings: DrainSettings,
  done: (result: CountResult) => void,
): void {
  const stats = createEnvoyStats(settings);
  let parseError = "";
  const addChunk = (chunk: Buffer): string => {
    parseError = stats.addChunk(chunk);
    return parseError;
  };
  stream({ target: adminTarget(admin, STATS_PATH), method: "GET", timeoutMs: TIMEOUT_MS }, addChunk, (end) => {
    const count = stats.count();
    const { kind, why } = classify(end, parseError, count);
    done({ kind, why, count });
  });
}

type Classification = { readonly kind: CountResultKind; readonly why: string };

function classify(end: HttpEnd, parseError: string, count: EnvoyCount): Classification {
  if (end.timedOut) return { kind: "hung", why: `Envoy's admin interface did not respond: ${end.failure}` };
  if (parseError !== "") return { kind: "useless", why: parseError };
  if (end.status === 0) return { kind: "absent", why: `Envoy's admin interface is unreachable: ${end.failure}` };
  if (end.status !== 200) {
    const why = `Envoy's admin interface responded with status ${end.status}`;
    return { kind: end.status >= 500 ? "absent" : "useless", why };
  }
  if (count.problem !== "") return { kind: count.isTemporary ? "absent" : "useless", why: count.problem };
  return { kind: "counted", why: "" };
}

/** Compares each count with the last one, because requests that started and ended in between are traffic too. */
type EnvoyEvidence = {
  readonly addCount: (count: EnvoyCount, nowMs: number) => Evidence;
};

type Evidence = {
  /** Whether the proxy's process started after the last count. */
  readonly restarted: boolean;
  /** Whether there was traffic since the last count. */
  readonly hadTraffic: boolean;
};

export function createEnvoyEvidence(probes: readonly KubeletProbe[]): EnvoyEvidence {
  let last: EnvoyCount | undefined;
  let connectionAllowance = createProbeAllowance([]);
  let requestAllowance = createProbeAllowance([]);

  const resetAllowances = (count: EnvoyCount): void => {
    // A probe opens one connection and sends at most one request, so connections and requests have separate allowances.
    const relevantProbes = probes.filter((probe) => count.probedPorts.includes(probe.port));
    connectionAllowance = createProbeAllowance(relevantProbes);
    requestAllowance = createProbeAllowance(relevantProbes);
  };

  return {
    addCount: (count, nowMs) => {
      const previous = last;
      last = count;
      const isRestarted = previous !== undefined && isNewProcess(previous, count);
      if (previous === undefined || isRestarted) resetAllowances(count);
      connectionAllowance.refill(nowMs);
      requestAllowance.refill(nowMs);
      if (previous === undefined || isRestarted) return { restarted: isRestarted, hadTraffic: true };
      // Active requests are traffic. The totals are not compared, because active requests must not use up the allowance for probes.
      if (previous.active > 0 || count.active > 0) return { restarted: false, hadTraffic: true };
      const hasNewConnections = isTraffic(previous.connectionTotal, count.connectionTotal, connectionAllowance.takeAll);
      const hasNewResponses = isTraffic(previous.completedTotal, count.completedTotal, requestAllowance.takeAll);
      const hasNewDatagrams = previous.datagramTotal !== count.datagramTotal;
      return { restarted: false, hadTraffic: hasNewConnections || hasNewResponses || hasNewDatagrams };
    },
  };
}

/**
 * Whether the counts are from different processes. Each request of the manager increments the admin total, so a smaller or equal
 * total is from a new process. A hot restart changes the epoch: totals continue, but the drain state is lost.
 */
function isNewProcess(previous: EnvoyCount, current: EnvoyCount): boolean {
  return current.adminTotal <= previous.adminTotal || current.epoch !== previous.epoch;
}

/**
 * Whether a total changed by more than the probes. A lower total means that a listener was removed, which counts as traffic. Traffic
 * does not use up the allowance; otherwise the next probe would count as traffic and lengthen the drain by a quiet period.
 */
function isTraffic(previousTotal: number, total: number, takeAllowance: (wanted: number) => boolean): boolean {
  const increase = total - previousTotal;
  return increase < 0 || !takeAllowance(increase);
}
