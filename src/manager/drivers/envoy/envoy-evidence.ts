/** What two counts of Envoy's statistics say together: what came and went in between is traffic too. Pure. */
import type { KubeletProbe } from "../../../contract/drain-settings.ts";
import { createAllowance } from "../../traffic/judge-allowance.ts";
import type { EnvoyCount } from "./envoy-stats.ts";

export type EnvoyEvidence = {
  readonly take: (count: EnvoyCount, nowMs: number) => Evidence;
};

export type Evidence = {
  /** The proxy is another process than it was. */
  readonly restarted: boolean;
  /** Something came or was answered since the last count. */
  readonly moved: boolean;
};

export function createEnvoyEvidence(probes: readonly KubeletProbe[]): EnvoyEvidence {
  let last: EnvoyCount | undefined;
  let arrivals = createAllowance([]);
  let answers = createAllowance([]);

  const begin = (count: EnvoyCount): void => {
    // A probe of a listener is a connection with at most one request.
    const probed = probes.filter((probe) => count.probedPorts.includes(probe.port));
    arrivals = createAllowance(probed);
    answers = createAllowance(probed);
  };

  return {
    take: (count, nowMs) => {
      const before = last;
      last = count;
      const isNew = before !== undefined && isAnother(before, count);
      if (before === undefined || isNew) begin(count);
      arrivals.fill(nowMs);
      answers.fill(nowMs);
      if (before === undefined || isNew) return { restarted: isNew, moved: true };
      // What is or was active is traffic in any case; its answers need no other explanation.
      if (before.active > 0 || count.active > 0) return { restarted: false, moved: true };
      const arrived = moved(before.arrivedTotal, count.arrivedTotal, arrivals.takeAll);
      const answered = moved(before.answeredTotal, count.answeredTotal, answers.takeAll);
      return { restarted: false, moved: arrived || answered };
    },
  };
}

/**
 * Every question of ours is counted, so a proxy that lives on shows more each time. One that took over from another
 * goes on with its counts, and with nothing that it was told.
 */
function isAnother(before: EnvoyCount, now: EnvoyCount): boolean {
  return now.adminTotal <= before.adminTotal || now.epoch !== before.epoch;
}

/**
 * A total that fell belonged to a listener that is gone: something happened, whatever it was. Traffic leaves the probes'
 * allowance alone: else the first probe after it would count as traffic, and the drain would last a quiet period longer.
 */
function moved(before: number, now: number, allow: (wanted: number) => boolean): boolean {
  const more = now - before;
  return more < 0 || !allow(more);
}
