/**
 * Fits the manager's resources into the LimitRanges of the namespace. Otherwise the API server could refuse a Pod because of the
 * added container.
 *
 * @see https://kubernetes.io/docs/concepts/policy/limit-range/
 */
import type { LimitRange } from "../../kubernetes/limit-range.ts";
import type { ComputeResource } from "../../kubernetes/qos.ts";
import type { RawObject } from "../../kubernetes/raw-json.ts";
import type { Problem } from "../../policy/problem.ts";
import { fitContainer, fitPod, MINIMUM_REQUEST, USUAL_LIMIT } from "./fit-share.ts";
import {
  type Amounts,
  amountsOf,
  type Bound,
  type Bounds,
  boundsOf,
  formatQuantity,
  withRangeDefaults,
  writeAmounts,
} from "./limit-ranges.ts";

type FitRequest = {
  readonly plannedResources: RawObject | undefined;
  readonly ranges: readonly LimitRange[];
  /** Sum over the Pod's own containers, in cores or bytes. */
  readonly sumOfOthers: (name: ComputeResource, list: "requests" | "limits") => number;
  readonly fitsPodLevel: (changed: RawObject) => boolean;
  readonly where: string;
};

export type Fit =
  | { readonly kind: "fits"; readonly resources: RawObject | undefined; readonly changes: readonly Problem[] }
  | { readonly kind: "conflict"; readonly problem: Problem };

const NAMES: readonly ComputeResource[] = ["cpu", "memory"];

/** Equal requests and limits stay equal, so the Pod keeps its QoS class. */
export function fitLimitRanges(request: FitRequest): Fit {
  const { plannedResources, ranges, fitsPodLevel, where } = request;
  const isAdmitted = (candidate: RawObject): boolean => {
    const effective = withRangeDefaults(candidate, ranges);
    return effective === plannedResources || fitsPodLevel(effective);
  };
  const conflict: Fit = { kind: "conflict", problem: podLevelProblem(where) };
  if (plannedResources === undefined)
    return isAdmitted({}) ? { kind: "fits", resources: plannedResources, changes: [] } : conflict;
  const fit = fitContainers(request, plannedResources, false);
  if (fit.kind === "conflict" || isAdmitted(fit.resources)) return fit;
  // A LimitRange's defaults may exceed the pod-level resources although smaller explicit values fit.
  const explicitFit = fitContainers(request, plannedResources, true);
  return explicitFit.kind === "conflict" || isAdmitted(explicitFit.resources) ? explicitFit : conflict;
}

type ContainersFit =
  | Extract<Fit, { kind: "conflict" }>
  | (Extract<Fit, { kind: "fits" }> & { readonly resources: RawObject });

function fitContainers(
  { ranges, sumOfOthers, where }: FitRequest,
  plannedResources: RawObject,
  setsAllExplicitly: boolean,
): ContainersFit {
  let resources: RawObject = plannedResources;
  const changes: Problem[] = [];
  for (const name of NAMES) {
    const perContainer = boundsOf(ranges, "Container", name);
    const perPod = boundsOf(ranges, "Pod", name);
    const before = amountsOf(plannedResources, name);
    const containerFit = fitContainer(name, setsAllExplicitly ? explicitAmounts(name, before) : before, perContainer);
    const result =
      "conflict" in containerFit
        ? containerFit
        : fitPod({
            name,
            amounts: containerFit,
            perContainer,
            perPod,
            othersRequest: sumOfOthers(name, "requests"),
            othersLimit: sumOfOthers(name, "limits"),
          });
    if ("conflict" in result) return { kind: "conflict", problem: boundProblem(where, result) };
    const changedResources = writeAmounts(resources, { name, before, after: result });
    if (changedResources !== resources)
      changes.push(changeProblem(where, { name, before, after: result }, perContainer, perPod));
    resources = changedResources;
  }
  return { kind: "fits", resources, changes };
}

function explicitAmounts(name: ComputeResource, { request, limit }: Amounts): Amounts {
  return { request: request ?? MINIMUM_REQUEST[name], limit: limit ?? Math.max(USUAL_LIMIT[name], request ?? 0) };
}

function boundProblem(
  where: string,
  { conflict, needs }: { readonly conflict: Bound; readonly needs: string },
): Problem {
  const message = `Is ${conflict.text}, and the manager needs ${needs}, so the API server would refuse the Pod. Raise the value.`;
  return { code: "limit_range", where: `${where}, ${conflict.origin}`, message };
}

function podLevelProblem(where: string): Problem {
  const message =
    "Leaves no room for the resources that the LimitRanges of the namespace require for the manager. Raise the pod-level resources.";
  return { code: "limit_range", where: `${where}, spec.resources`, message };
}

type Change = { readonly name: ComputeResource; readonly before: Amounts; readonly after: Amounts };

function changeProblem(where: string, { name, before, after }: Change, perContainer: Bounds, perPod: Bounds): Problem {
  const bounds = [perContainer.min, perContainer.max, perContainer.ratio, perPod.max, perPod.ratio];
  const originsText = [...new Set(bounds.flatMap((bound) => (bound === undefined ? [] : [bound.origin])))].join(
    " and ",
  );
  return {
    code: "limit_range",
    where: `${where}, lastcall.dev/resources`,
    message: `Changed ${name} (request/limit) from ${amountsText(name, before)} to ${amountsText(name, after)} to fit ${originsText === "" ? "the pod-level resources" : originsText}.`,
  };
}

function amountsText(name: ComputeResource, { request, limit }: Amounts): string {
  const text = (value: number | undefined): string => (value === undefined ? "default" : formatQuantity(name, value));
  return `${text(request)}/${text(limit)}`;
}
