/**
 * Fits one resource of the manager into the bounds of the LimitRanges, in these steps:
 *
 * 1. Set values for which no default fits (`ownShare`).
 * 2. Clamp request and limit to min and max, with the limit not below the request (`inOrder`).
 * 3. Keep the limit within `maxLimitRequestRatio` times the request (`fitRatio`).
 * 4. Keep the sum of all containers within the Pod's max (`lowerLimit`) and ratio (`fitPodRatio`).
 */
import type { ComputeResource } from "../../kubernetes/qos.ts";
import { type Bound, type Bounds, roundDown, roundUp, type Share, written } from "./limit-ranges.ts";

type Fitted = Share | { readonly conflict: Bound; readonly needs: string };

const MEBIBYTE = 2 ** 20;

/** The limit where one has to be set, and the minimum with which the manager works. */
export const USUAL_LIMIT: Readonly<Record<ComputeResource, number>> = { cpu: 0.01, memory: 16 * MEBIBYTE };
const LEAST_LIMIT: Readonly<Record<ComputeResource, number>> = { cpu: 0.001, memory: 12 * MEBIBYTE };

export const LEAST_REQUEST: Readonly<Record<ComputeResource, number>> = { cpu: 0.001, memory: 2 * MEBIBYTE };

/** Applies min and max, then the ratio: lowers a default limit before it raises a request. */
export function fitContainer(name: ComputeResource, share: Share, bounds: Bounds): Fitted {
  const { min, max, ratio } = bounds;
  if (min !== undefined && max !== undefined && min.value > max.value) return { conflict: max, needs: min.text };
  if (max !== undefined && max.value < LEAST_LIMIT[name])
    return { conflict: max, needs: written(name, LEAST_LIMIT[name]) };
  const clamp = (value: number): number =>
    Math.min(max?.value ?? Number.POSITIVE_INFINITY, Math.max(min?.value ?? 0, value));
  const isExplicit = share.limit !== undefined;
  const own = ownShare(name, share, bounds);
  const request = own.request === undefined ? undefined : clamp(own.request);
  const limit = own.limit === undefined ? undefined : Math.max(clamp(own.limit), request ?? 0);
  const ordered = inOrder({ request, limit }, bounds);
  return ratio === undefined
    ? ordered
    : fitRatio({ name, share: ordered, bounds, ratio: ratio.value, isOurs: isExplicit });
}

/** Sets values for which no default exists or fits. */
function ownShare(name: ComputeResource, share: Share, bounds: Bounds): Share {
  const { min, max, ratio, defaultLimit, defaultRequest } = bounds;
  const limitIsMissing = defaultLimit.value === undefined && (max !== undefined || ratio !== undefined);
  const requestIsMissing = defaultRequest.value === undefined && min !== undefined;
  return {
    limit: share.limit ?? (limitIsMissing || !defaultLimit.isUsable ? USUAL_LIMIT[name] : undefined),
    request:
      share.request ?? (requestIsMissing || !defaultRequest.isUsable ? (min?.value ?? LEAST_REQUEST[name]) : undefined),
  };
}

/** API servers refuse a request above the limit, even if one of them is a default. */
function inOrder(share: Share, { defaultLimit, defaultRequest }: Bounds): Share {
  const request = share.request ?? defaultRequest.value;
  const limit = share.limit ?? defaultLimit.value;
  if (request === undefined || limit === undefined || request <= limit) return share;
  return share.limit === undefined ? { request, limit: request } : { request: limit, limit };
}

type RatioFit = {
  readonly name: ComputeResource;
  readonly share: Share;
  readonly bounds: Bounds;
  readonly ratio: number;
  readonly isOurs: boolean;
};

function fitRatio({ name, share, bounds, ratio, isOurs }: RatioFit): Share {
  const effectiveLimit = share.limit ?? bounds.defaultLimit.value;
  const effectiveRequest = share.request ?? bounds.defaultRequest.value;
  if (effectiveLimit === undefined) return share;
  if (effectiveRequest !== undefined && effectiveLimit <= effectiveRequest * ratio) return share;
  const floor = Math.max(bounds.min?.value ?? 0, effectiveRequest ?? 0);
  const limit = isOurs ? effectiveLimit : Math.max(floor, Math.min(effectiveLimit, USUAL_LIMIT[name]));
  const request = Math.min(limit, Math.max(floor, roundUp(name, limit / ratio)));
  return { request, limit };
}

type PodFit = {
  readonly name: ComputeResource;
  readonly share: Share;
  readonly perContainer: Bounds;
  readonly perPod: Bounds;
  readonly othersRequest: number;
  readonly othersLimit: number;
};

/** Applies the bounds of the sum of all containers. One more container can violate only the maximum and the ratio. */
export function fitPod(fit: PodFit): Fitted {
  const { perPod, perContainer, share } = fit;
  const max = perPod.max;
  const limit = share.limit ?? perContainer.defaultLimit.value ?? 0;
  const request = share.request ?? perContainer.defaultRequest.value ?? 0;
  const room = max === undefined ? Number.POSITIVE_INFINITY : max.value - fit.othersLimit;
  const roomToRequest = max === undefined ? Number.POSITIVE_INFINITY : max.value - fit.othersRequest;
  const lowered = max !== undefined && limit > room ? lowerLimit(fit, room, max) : share;
  if ("conflict" in lowered) return lowered;
  if (max !== undefined && (lowered.request ?? request) > roomToRequest)
    return { conflict: max, needs: `${written(fit.name, request)} more` };
  return fitPodRatio(fit, lowered, roomToRequest);
}

function lowerLimit({ name, share, perContainer }: PodFit, room: number, max: Bound): Fitted {
  const isEqual = share.request !== undefined && share.request === share.limit;
  const least = Math.max(LEAST_LIMIT[name], perContainer.min?.value ?? 0, isEqual ? 0 : (share.request ?? 0));
  const limit = roundDown(name, Math.min(room, share.limit ?? USUAL_LIMIT[name]));
  if (limit < least) return { conflict: max, needs: `${written(name, least)} more` };
  return { request: isEqual ? limit : share.request, limit };
}

/**
 * Equal request and limit bring the Pod's ratio closer to 1. Where the Pod's maximum has no room for that, the request is raised
 * just as far as the ratio requires.
 */
function fitPodRatio(
  { name, perPod, perContainer, othersRequest, othersLimit }: PodFit,
  share: Share,
  room: number,
): Fitted {
  const { max, ratio } = perPod;
  const limit = share.limit ?? perContainer.defaultLimit.value;
  const request = share.request ?? perContainer.defaultRequest.value ?? 0;
  if (ratio === undefined || limit === undefined) return share;
  if (othersLimit + limit <= (othersRequest + request) * ratio.value) return share;
  if (limit <= room) return { request: limit, limit };
  const least = roundUp(name, (othersLimit + limit) / ratio.value - othersRequest);
  if (least <= Math.min(room, limit)) return { request: least, limit };
  return { conflict: max ?? ratio, needs: `${written(name, least)} more` };
}
