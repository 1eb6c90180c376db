/** Asks Envoy's admin interface for its statistics once, and tells apart why that fails. */
import type { DrainSettings } from "../../../contract/drain-settings.ts";
import { adminCall, type HttpTarget } from "../../http-target.ts";
import type { HttpEnd, HttpStream } from "../http-stream.ts";
import { STATS } from "./envoy-admin.ts";
import { createEnvoyStats, type EnvoyCount } from "./envoy-stats.ts";

/** A large configuration on a busy node is some megabytes. */
const LIMIT_MS = 2_000;

export type AnswerKind = "counted" | "hung" | "absent" | "useless";

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
