/** Asks Envoy's admin interface for its statistics once, and tells apart why that fails. */
import type { DrainSettings, KubeletProbe } from "../../../contract/drain-settings.ts";
import type { HttpEnd, HttpStream } from "../../http/http-client.ts";
import { adminCall, type HttpTarget } from "../../http/http-target.ts";
import { createAllowance } from "../../traffic/judge-allowance.ts";
import { STATS } from "./envoy-admin.ts";
import { createEnvoyStats, type EnvoyCount } from "./envoy-stats.ts";

/** A large configuration on a busy node is some megabytes. */
const LIMIT_MS = 2_000;

type AnswerKind = "counted" | "hung" | "absent" | "useless";

export type EnvoyAnswer = {
  /**
   * `counted`: it can be believed. `hung`: a program is there and does not answer, so traffic may still flow.
   * `absent`: no program answers, or not yet. `useless`: what is there will never tell.
   */
  readonly kind: AnswerKind;
  readonly why: string;
  readonly count: EnvoyCount;
};

/** @param done called exactly once */
export function askEnvoy(
  stream: HttpStream,
  admin: HttpTarget,
  settings: DrainSettings,
  done: (answer: EnvoyAnswer) => void,
): void {
  const stats = createEnvoyStats(settings);
  let refusal = "";
  const take = (chunk: Buffer): string => {
    refusal = stats.take(chunk);
    return refusal;
  };
  stream({ target: adminCall(admin, STATS), method: "GET", limitMs: LIMIT_MS }, take, (end) => {
    const count = stats.count();
    const { kind, why } = verdictOn(end, refusal, count);
    done({ kind, why, count });
  });
}

type Verdict = { readonly kind: AnswerKind; readonly why: string };

function verdictOn(end: HttpEnd, refusal: string, count: EnvoyCount): Verdict {
  if (end.timedOut) return { kind: "hung", why: `Envoy's admin interface does not answer: ${end.failure}` };
  if (refusal !== "") return { kind: "useless", why: refusal };
  if (end.status === 0) return { kind: "absent", why: `Envoy's admin interface cannot be reached: ${end.failure}` };
  if (end.status !== 200) {
    const why = `Envoy's admin interface answered status ${end.status}`;
    return { kind: end.status >= 500 ? "absent" : "useless", why };
  }
  if (count.problem !== "") return { kind: count.passing ? "absent" : "useless", why: count.problem };
  return { kind: "counted", why: "" };
}

/** What two counts of Envoy's statistics say together: what came and went in between is traffic too. Pure. */
type EnvoyEvidence = {
  readonly take: (count: EnvoyCount, nowMs: number) => Evidence;
};

type Evidence = {
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
