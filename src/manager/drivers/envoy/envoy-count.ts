/** Reads Envoy's statistics, classifies failures, and detects traffic between two counts. */
import type { DrainSettings, KubeletProbe } from "../../../contract/drain-settings.ts";
import type { HttpEnd, HttpStream } from "../../http/http-client.ts";
import { adminTarget, type HttpTarget } from "../../http/http-target.ts";
import { createProbeAllowance } from "../../traffic/probe-allowance.ts";
import { STATS } from "./envoy-admin.ts";
import { createEnvoyStats, type EnvoyCount } from "./envoy-stats.ts";

/** Long enough to receive several megabytes, the size of the statistics of a large configuration. */
const TIMEOUT_MS = 2_000;

type CountResultKind = "counted" | "hung" | "absent" | "useless";

export type CountResult = {
  /**
   * `counted`: the count is valid. `hung`: a program runs but does not respond, so there may be traffic. `absent`: no program
   * responds, or a starting one has no statistics yet. `useless`: the statistics will never be sufficient.
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
  const take = (chunk: Buffer): string => {
    parseError = stats.take(chunk);
    return parseError;
  };
  stream({ target: adminTarget(admin, STATS), method: "GET", timeoutMs: TIMEOUT_MS }, take, (end) => {
    const count = stats.count();
    const { kind, why } = classify(end, parseError, count);
    done({ kind, why, count });
  });
}

type Classification = { readonly kind: CountResultKind; readonly why: string };

function classify(end: HttpEnd, parseError: string, count: EnvoyCount): Classification {
  if (end.timedOut) return { kind: "hung", why: `Envoy's admin interface did not answer: ${end.failure}` };
  if (parseError !== "") return { kind: "useless", why: parseError };
  if (end.status === 0) return { kind: "absent", why: `Envoy's admin interface is unreachable: ${end.failure}` };
  if (end.status !== 200) {
    const why = `Envoy's admin interface answered status ${end.status}`;
    return { kind: end.status >= 500 ? "absent" : "useless", why };
  }
  if (count.problem !== "") return { kind: count.isTemporary ? "absent" : "useless", why: count.problem };
  return { kind: "counted", why: "" };
}

/** Compares each count with the last one, because requests that started and ended in between are traffic too. */
type EnvoyEvidence = {
  readonly take: (count: EnvoyCount, nowMs: number) => Evidence;
};

type Evidence = {
  /** The proxy's process started after the last count. */
  readonly restarted: boolean;
  /** There was traffic since the last count. */
  readonly hadTraffic: boolean;
};

export function createEnvoyEvidence(probes: readonly KubeletProbe[]): EnvoyEvidence {
  let last: EnvoyCount | undefined;
  let connectionAllowance = createProbeAllowance([]);
  let requestAllowance = createProbeAllowance([]);

  const start = (count: EnvoyCount): void => {
    // A probe opens one connection and sends at most one request, so each total gets its own allowance.
    const probed = probes.filter((probe) => count.probedPorts.includes(probe.port));
    connectionAllowance = createProbeAllowance(probed);
    requestAllowance = createProbeAllowance(probed);
  };

  return {
    take: (count, nowMs) => {
      const before = last;
      last = count;
      const isNew = before !== undefined && isNewProcess(before, count);
      if (before === undefined || isNew) start(count);
      connectionAllowance.refill(nowMs);
      requestAllowance.refill(nowMs);
      if (before === undefined || isNew) return { restarted: isNew, hadTraffic: true };
      // Active requests are traffic. Their increase of the totals must not use up the allowance for probes.
      if (before.active > 0 || count.active > 0) return { restarted: false, hadTraffic: true };
      const arrived = isTraffic(before.connectionTotal, count.connectionTotal, connectionAllowance.takeAll);
      const answered = isTraffic(before.completedTotal, count.completedTotal, requestAllowance.takeAll);
      return { restarted: false, hadTraffic: arrived || answered };
    },
  };
}

/**
 * Whether the counts are from different processes. Each request of the manager increments the admin total, so a smaller or equal
 * total is from a new process. A hot restart changes the epoch: totals continue, but the drain state is lost.
 */
function isNewProcess(before: EnvoyCount, now: EnvoyCount): boolean {
  return now.adminTotal <= before.adminTotal || now.epoch !== before.epoch;
}

/**
 * Whether a total changed by more than the probes. A lower total means that a listener was removed, which counts as traffic. Traffic
 * does not use up the allowance; otherwise the next probe would count as traffic and lengthen the drain by a quiet period.
 */
function isTraffic(before: number, now: number, allow: (wanted: number) => boolean): boolean {
  const more = now - before;
  return more < 0 || !allow(more);
}
