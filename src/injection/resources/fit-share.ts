/**
 * Fits one resource of the manager into the bounds of the LimitRanges, in these steps:
 *
 * 1. Set values for which no default fits (`withOwnAmounts`).
 * 2. Clamp request and limit to min and max, with the limit not below the request (`withOrderedAmounts`).
 * 3. Keep the limit within `maxLimitRequestRatio` times the request (`fitRatio`).
 * 4. Keep the sum of all containers within the Pod's max (`lowerLimit`) and ratio (`fitPodRatio`).
 */
import type { ComputeResource } from "../../kubernetes/qos.ts";
import { type Amounts, type Bound, type Bounds, formatQuantity, roundDown, roundUp } from "./limit-ranges.ts";

type FitResult = Amounts | { readonly conflict: Bound; readonly needs: string };

const MEBIBYTE = 2 ** 20;

/** In cores and bytes: the limit that the manager gets if it needs one, and the minimum with which it works. */
export const USUAL_LIMIT: Readonly<Record<ComputeResource, number>> = { cpu: 0.01, memory: 16 * MEBIBYTE };
const MINIMUM_LIMIT: Readonly<Record<ComputeResource, number>> = { cpu: 0.001, memory: 12 * MEBIBYTE };

export const MINIMUM_REQUEST: Readonly<Record<ComputeResource, number>> = { cpu: 0.001, memory: 2 * MEBIBYTE };

/** Applies min and max, then the ratio: a default limit is lowered before a request is raised. */
export function fitContainer(name: ComputeResource, amounts: Amounts, bounds: Bounds): FitResult {
  const { min, max, ratio } = bounds;
  if (min !== undefined && max !== undefined && min.value > max.value) return { conflict: max, needs: min.text };
  if (max !== undefined && max.value < MINIMUM_LIMIT[name])
    return { conflict: max, needs: formatQuantity(name, MINIMUM_LIMIT[name]) };
  const clamp = (value: number): number =>
    Math.min(max?.value ?? Number.POSITIVE_INFINITY, Math.max(min?.value ?? 0, value));
  const isExplicit = amounts.limit !== undefined;
  const ownAmounts = withOwnAmounts(name, amounts, bounds);
  const request = ownAmounts.request === undefined ? undefined : clamp(ownAmounts.request);
  const limit = ownAmounts.limit === undefined ? undefined : Math.max(clamp(ownAmounts.limit), request ?? 0);
  const orderedAmounts = withOrderedAmounts({ request, limit }, bounds);
  return ratio === undefined
    ? orderedAmounts
    : fitRatio({ name, amounts: orderedAmounts, bounds, ratio: ratio.value, isExplicit });
}

/** Sets values for which no default exists or fits. */
function withOwnAmounts(name: ComputeResource, amounts: Amounts, bounds: Bounds): Amounts {
  const { min, max, ratio, defaultLimit, defaultRequest } = bounds;
  const limitIsMissing = defaultLimit.value === undefined && (max !== undefined || ratio !== undefined);
  const requestIsMissing = defaultRequest.value === undefined && min !== undefined;
  return {
    limit: amounts.limit ?? (limitIsMissing || !defaultLimit.isUsable ? USUAL_LIMIT[name] : undefined),
    request:
      amounts.request ??
      (requestIsMissing || !defaultRequest.isUsable ? (min?.value ?? MINIMUM_REQUEST[name]) : undefined),
  };
}

/** API servers refuse a request above the limit, even if one of the two values is a default. */
function withOrderedAmounts(amounts: Amounts, { defaultLimit, defaultRequest }: Bounds): Amounts {
  const request = amounts.request ?? defaultRequest.value;
  const limit = amounts.limit ?? defaultLimit.value;
  if (request === undefined || limit === undefined || request <= limit) return amounts;
  return amounts.limit === undefined ? { request, limit: request } : { request: limit, limit };
}

type RatioFit = {
  readonly name: ComputeResource;
  readonly amounts: Amounts;
  readonly bounds: Bounds;
  readonly ratio: number;
  readonly isExplicit: boolean;
};

function fitRatio({ name, amounts, bounds, ratio, isExplicit }: RatioFit): Amounts {
  const effectiveLimit = amounts.limit ?? bounds.defaultLimit.value;
  const effectiveRequest = amounts.request ?? bounds.defaultRequest.value;
  if (effectiveLimit === undefined) return amounts;
  if (effectiveRequest !== undefined && effectiveLimit <= effectiveRequest * ratio) return amounts;
  const minimum = Math.max(bounds.min?.value ?? 0, effectiveRequest ?? 0);
  const limit = isExplicit ? effectiveLimit : Math.max(minimum, Math.min(effectiveLimit, USUAL_LIMIT[name]));
  const request = Math.min(limit, Math.max(minimum, roundUp(name, limit / ratio)));
  return { request, limit };
}

type PodFit = {
  readonly name: ComputeResource;
  readonly amounts: Amounts;
  readonly perContainer: Bounds;
  readonly perPod: Bounds;
  readonly othersRequest: number;
  readonly othersLimit: number;
};

/** Applies the bounds on the sum of all containers. An added container can violate only the maximum and the ratio. */
export function fitPod(fit: PodFit): FitResult {
  const { perPod, perContainer, amounts } = fit;
  const max = perPod.max;
  const limit = amounts.limit ?? perContainer.defaultLimit.value ?? 0;
  const request = amounts.request ?? perContainer.defaultRequest.value ?? 0;
  const availableLimit = max === undefined ? Number.POSITIVE_INFINITY : max.value - fit.othersLimit;
  const availableRequest = max === undefined ? Number.POSITIVE_INFINITY : max.value - fit.othersRequest;
  const lowered = max !== undefined && limit > availableLimit ? lowerLimit(fit, availableLimit, max) : amounts;
  if ("conflict" in lowered) return lowered;
  if (max !== undefined && (lowered.request ?? request) > availableRequest)
    return { conflict: max, needs: `${formatQuantity(fit.name, request)} more` };
  return fitPodRatio(fit, lowered, availableRequest);
}

function lowerLimit({ name, amounts, perContainer }: PodFit, available: number, max: Bound): FitResult {
  const isEqual = amounts.request !== undefined && amounts.request === amounts.limit;
  const leastLimit = Math.max(MINIMUM_LIMIT[name], perContainer.min?.value ?? 0, isEqual ? 0 : (amounts.request ?? 0));
  const limit = roundDown(name, Math.min(available, amounts.limit ?? USUAL_LIMIT[name]));
  if (limit < leastLimit) return { conflict: max, needs: `${formatQuantity(name, leastLimit)} more` };
  return { request: isEqual ? limit : amounts.request, limit };
}

/**
 * Sets the request to the limit, which brings the Pod's ratio closer to 1. If the Pod's maximum does not allow that, raises the
 * request only as far as the ratio requires.
 */
function fitPodRatio(
  { name, perPod, perContainer, othersRequest, othersLimit }: PodFit,
  amounts: Amounts,
  available: number,
): FitResult {
  const { max, ratio } = perPod;
  const limit = amounts.limit ?? perContainer.defaultLimit.value;
  const request = amounts.request ?? perContainer.defaultRequest.value ?? 0;
  if (ratio === undefined || limit === undefined) return amounts;
  if (othersLimit + limit <= (othersRequest + request) * ratio.value) return amounts;
  if (limit <= available) return { request: limit, limit };
  const leastRequest = roundUp(name, (othersLimit + limit) / ratio.value - othersRequest);
  if (leastRequest <= Math.min(available, limit)) return { request: leastRequest, limit };
  return { conflict: max ?? ratio, needs: `${formatQuantity(name, leastRequest)} more` };
}
