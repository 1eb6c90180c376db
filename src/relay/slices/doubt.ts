/** Why what a watch knows is not to be believed. Pure. */
import type { Freshness } from "../../api-server/freshness.ts";

/** Longest part of an error's message that is passed on. */
const FAILURE_LIMIT = 200;

/** `undefined` when it is to be believed; else words for the report, the same for as long as the doubt is the same. */
export function doubtAbout(freshness: Freshness, nowMs: number, beliefMs: number): string | undefined {
  const { heardMs, failure } = freshness;
  const because = failure === undefined ? "" : `: ${failure.slice(0, FAILURE_LIMIT)}`;
  if (heardMs === undefined)
    return failure === undefined ? "the slices are being read" : `the slices could not be read yet${because}`;
  if (nowMs - heardMs <= beliefMs) return undefined;
  return `nothing was heard of the slices for ${Math.round(beliefMs / 1_000)} s${because}`;
}
