/** What a person hears when a LimitRange and the manager do not fit, or only after a change. */
import type { ComputeResource } from "../kubernetes/qos.ts";
import type { Problem } from "../policy/problem.ts";
import type { Bound, Bounds } from "./limit-range-bounds.ts";

export function boundProblem(
  where: string,
  { conflict, needs }: { readonly conflict: Bound; readonly needs: string },
): Problem {
  const message = `It is ${conflict.text}, and the manager needs ${needs}; such a Pod would be refused.`;
  return { code: "limit_range", where: `${where}, ${conflict.from}`, message };
}

export function podLevelProblem(where: string): Problem {
  const message = "The Pod's own resources leave no room for what the LimitRanges ask of the manager.";
  return { code: "limit_range", where: `${where}, spec.resources`, message };
}

export function changeProblem(where: string, name: ComputeResource, perContainer: Bounds, perPod: Bounds): Problem {
  const bounds = [perContainer.min, perContainer.max, perContainer.ratio, perPod.max, perPod.ratio];
  const from = [...new Set(bounds.flatMap((bound) => (bound === undefined ? [] : [bound.from])))].join(" and ");
  return {
    code: "limit_range",
    where: `${where}, lastcall.dev/resources`,
    message: `The ${name} is changed to fit ${from === "" ? "the Pod's own resources" : from}.`,
  };
}
