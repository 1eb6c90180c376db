/**
 * The manager's resources inside the LimitRanges of its namespace. Without this a Pod that was fine before injection
 * could be refused because of the container we add.
 *
 * @see https://kubernetes.io/docs/concepts/policy/limit-range/
 */
import type { LimitRange } from "../kubernetes/limit-range.ts";
import type { ComputeResource } from "../kubernetes/qos.ts";
import type { RawObject } from "../kubernetes/raw-json.ts";
import type { Problem } from "../policy/problem.ts";
import { roundDown, roundUp, written } from "./amount-text.ts";
import { type Bound, type Bounds, boundsOf } from "./limit-range-bounds.ts";
import { withDefaults } from "./limit-range-defaults.ts";
import { boundProblem, changeProblem, podLevelProblem } from "./limit-range-problems.ts";
import { type Share, shareOf, writeShare } from "./resource-share.ts";

export type FitRequest = {
  /** What the manager would get; `undefined` leaves all to the API server's defaults. */
  readonly planned: RawObject | undefined;
  readonly ranges: readonly LimitRange[];
  /** What the Pod's own containers ask for together, in cores or bytes. */
  readonly others: (name: ComputeResource, list: "requests" | "limits") => number;
  /** Whether the resources of the Pod as a whole have room for these. */
  readonly fitsPodLevel: (changed: RawObject) => boolean;
  readonly where: string;
};

export type Fit =
  | { readonly kind: "fits"; readonly resources: RawObject | undefined; readonly changes: readonly Problem[] }
  | { readonly kind: "conflict"; readonly problem: Problem };

type Fitted = Share | { readonly conflict: Bound; readonly needs: string };

const MEBIBYTE = 2 ** 20;

/** What the manager gets where a limit must be named, and the least it works with. */
const USUAL_LIMIT: Readonly<Record<ComputeResource, number>> = { cpu: 0.01, memory: 16 * MEBIBYTE };
const LEAST_LIMIT: Readonly<Record<ComputeResource, number>> = { cpu: 0.001, memory: 12 * MEBIBYTE };

const LEAST_REQUEST: Readonly<Record<ComputeResource, number>> = { cpu: 0.001, memory: 2 * MEBIBYTE };

const NAMES: readonly ComputeResource[] = ["cpu", "memory"];

/** Requests and limits stay equal where they were, so the Pod's quality-of-service class stays too. */
export function fitLimitRanges(request: FitRequest): Fit {
  const { planned, ranges, fitsPodLevel, where } = request;
  if (ranges.length === 0) return { kind: "fits", resources: planned, changes: [] };
  const isAdmitted = (asked: RawObject): boolean => {
    const effective = withDefaults(asked, ranges);
    return effective === planned || fitsPodLevel(effective);
  };
  const conflict: Fit = { kind: "conflict", problem: podLevelProblem(where) };
  if (planned === undefined) return isAdmitted({}) ? { kind: "fits", resources: planned, changes: [] } : conflict;
  const fit = fitContainers(request, planned, false);
  if (fit.kind === "conflict" || isAdmitted(fit.resources)) return fit;
  // What was left to defaults may be too much for the Pod as a whole, and little enough once it is named.
  const named = fitContainers(request, planned, true);
  return named.kind === "conflict" || isAdmitted(named.resources) ? named : conflict;
}

type Fitting =
  | Extract<Fit, { kind: "conflict" }>
  | (Extract<Fit, { kind: "fits" }> & { readonly resources: RawObject });

function fitContainers({ ranges, others, where }: FitRequest, planned: RawObject, namesAll: boolean): Fitting {
  let resources: RawObject = planned;
  const changes: Problem[] = [];
  for (const name of NAMES) {
    const perContainer = boundsOf(ranges, "Container", name);
    const perPod = boundsOf(ranges, "Pod", name);
    const before = shareOf(planned, name);
    const inside = fitContainer(name, namesAll ? allNamed(name, before) : before, perContainer);
    const fitted =
      "conflict" in inside
        ? inside
        : fitPod({
            name,
            share: inside,
            perContainer,
            perPod,
            requests: others(name, "requests"),
            limits: others(name, "limits"),
          });
    if ("conflict" in fitted) return { kind: "conflict", problem: boundProblem(where, fitted) };
    const written = writeShare(resources, { name, before, after: fitted });
    if (written !== resources) changes.push(changeProblem(where, name, perContainer, perPod));
    resources = written;
  }
  return { kind: "fits", resources, changes };
}

function allNamed(name: ComputeResource, { request, limit }: Share): Share {
  return { request: request ?? LEAST_REQUEST[name], limit: limit ?? Math.max(USUAL_LIMIT[name], request ?? 0) };
}

/** Within min and max first, then the ratio: a limit that only a default would set is lowered before a request is raised. */
function fitContainer(name: ComputeResource, share: Share, bounds: Bounds): Fitted {
  const { min, max, ratio } = bounds;
  if (min !== undefined && max !== undefined && min.value > max.value) return { conflict: max, needs: min.text };
  if (max !== undefined && max.value < LEAST_LIMIT[name])
    return { conflict: max, needs: written(name, LEAST_LIMIT[name]) };
  const clamp = (value: number): number =>
    Math.min(max?.value ?? Number.POSITIVE_INFINITY, Math.max(min?.value ?? 0, value));
  const isOurs = share.limit !== undefined;
  const own = ownShare(name, share, bounds);
  const request = own.request === undefined ? undefined : clamp(own.request);
  const limit = own.limit === undefined ? undefined : Math.max(clamp(own.limit), request ?? 0);
  const ordered = inOrder({ request, limit }, bounds);
  return ratio === undefined ? ordered : fitRatio({ name, share: ordered, bounds, ratio: ratio.value, isOurs });
}

/** What must be said because no default would say it rightly. */
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

/** A request above the limit is refused, whichever of them is a default. */
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
  readonly requests: number;
  readonly limits: number;
};

/** The sum of all containers has bounds of its own; only a maximum and a ratio can be hurt by one container more. */
function fitPod(fit: PodFit): Fitted {
  const { perPod, perContainer, share } = fit;
  const max = perPod.max;
  const limit = share.limit ?? perContainer.defaultLimit.value ?? 0;
  const request = share.request ?? perContainer.defaultRequest.value ?? 0;
  const room = max === undefined ? Number.POSITIVE_INFINITY : max.value - fit.limits;
  const roomToRequest = max === undefined ? Number.POSITIVE_INFINITY : max.value - fit.requests;
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
 * With request and limit equal the ratio of the whole comes nearer to 1, so what was right stays right. Where the Pod's maximum
 * has no room for that, the request is as large as the ratio asks for.
 */
function fitPodRatio({ name, perPod, perContainer, requests, limits }: PodFit, share: Share, room: number): Fitted {
  const { max, ratio } = perPod;
  const limit = share.limit ?? perContainer.defaultLimit.value;
  const request = share.request ?? perContainer.defaultRequest.value ?? 0;
  if (ratio === undefined || limit === undefined) return share;
  if (limits + limit <= (requests + request) * ratio.value) return share;
  if (limit <= room) return { request: limit, limit };
  const least = roundUp(name, (limits + limit) / ratio.value - requests);
  if (least <= Math.min(room, limit)) return { request: least, limit };
  return { conflict: max ?? ratio, needs: `${written(name, least)} more` };
}
