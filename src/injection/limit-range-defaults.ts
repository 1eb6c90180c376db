/** What the API server adds to a container's resources before it checks anything. */
import type { LimitRange } from "../kubernetes/limit-range.ts";
import type { RawObject } from "../kubernetes/raw-json.ts";
import { boundsOf } from "./limit-range-bounds.ts";
import { putAmount, shareOf } from "./resource-share.ts";

/** A limit alone is the request too, so only what names neither gets a default request. */
export function withDefaults(resources: RawObject, ranges: readonly LimitRange[]): RawObject {
  let filled = resources;
  for (const name of ["cpu", "memory"] as const) {
    const { defaultLimit, defaultRequest } = boundsOf(ranges, "Container", name);
    const { request, limit } = shareOf(resources, name);
    if (limit === undefined) filled = putAmount(filled, ["limits", name], defaultLimit.value);
    if (request === undefined) filled = putAmount(filled, ["requests", name], defaultRequest.value);
  }
  return filled;
}
