/**
 * The manager's resources inside the LimitRanges of its namespace. Without this a Pod that was fine before injection
 * could be refused because of the container we add.
 *
 * @see https://kubernetes.io/docs/concepts/policy/limit-range/
 */
import type { LimitRange } from "../../kubernetes/limit-range.ts";
import type { ComputeResource } from "../../kubernetes/qos.ts";
import type { RawObject } from "../../kubernetes/raw-json.ts";
import type { Problem } from "../../policy/problem.ts";
import { fitContainer, fitPod, LEAST_REQUEST, USUAL_LIMIT } from "./fit-share.ts";
import {
  type Bound,
  type Bounds,
  boundsOf,
  type Share,
  shareOf,
  withRangeDefaults,
  writeShare,
  written,
} from "./limit-ranges.ts";

type FitRequest = {
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

const NAMES: readonly ComputeResource[] = ["cpu", "memory"];

/** Requests and limits stay equal where they were, so the Pod's quality-of-service class stays too. */
export function fitLimitRanges(request: FitRequest): Fit {
  const { planned, ranges, fitsPodLevel, where } = request;
  const isAdmitted = (asked: RawObject): boolean => {
    const effective = withRangeDefaults(asked, ranges);
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
            othersRequest: others(name, "requests"),
            othersLimit: others(name, "limits"),
          });
    if ("conflict" in fitted) return { kind: "conflict", problem: boundProblem(where, fitted) };
    const changed = writeShare(resources, { name, before, after: fitted });
    if (changed !== resources)
      changes.push(changeProblem(where, { name, before, after: fitted }, perContainer, perPod));
    resources = changed;
  }
  return { kind: "fits", resources, changes };
}

function allNamed(name: ComputeResource, { request, limit }: Share): Share {
  return { request: request ?? LEAST_REQUEST[name], limit: limit ?? Math.max(USUAL_LIMIT[name], request ?? 0) };
}

function boundProblem(
  where: string,
  { conflict, needs }: { readonly conflict: Bound; readonly needs: string },
): Problem {
  const message = `It is ${conflict.text}, and the manager needs ${needs}; such a Pod would be refused.`;
  return { code: "limit_range", where: `${where}, ${conflict.from}`, message };
}

function podLevelProblem(where: string): Problem {
  const message = "The Pod's own resources leave no room for what the LimitRanges ask of the manager.";
  return { code: "limit_range", where: `${where}, spec.resources`, message };
}

type Change = { readonly name: ComputeResource; readonly before: Share; readonly after: Share };

/** Amounts are written as request/limit. */
function changeProblem(where: string, { name, before, after }: Change, perContainer: Bounds, perPod: Bounds): Problem {
  const bounds = [perContainer.min, perContainer.max, perContainer.ratio, perPod.max, perPod.ratio];
  const from = [...new Set(bounds.flatMap((bound) => (bound === undefined ? [] : [bound.from])))].join(" and ");
  return {
    code: "limit_range",
    where: `${where}, lastcall.dev/resources`,
    message: `The ${name} ${shareText(name, before)} becomes ${shareText(name, after)} to fit ${from === "" ? "the Pod's own resources" : from}.`,
  };
}

function shareText(name: ComputeResource, { request, limit }: Share): string {
  const text = (value: number | undefined): string => (value === undefined ? "default" : written(name, value));
  return `${text(request)}/${text(limit)}`;
}
