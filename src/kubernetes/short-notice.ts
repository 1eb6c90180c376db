/** Nodes whose provider takes them back at short notice, and how a Pod says that it may run there. Pure. */
import { requiredNodeTerms } from "./pod.ts";
import { isAbsent, listAt, objectAt, objectsAt, type RawObject, textAt } from "./raw-json.ts";

export type ShortNotice = {
  /** From the notice until the machine is gone, at most. */
  readonly seconds: number;
  /** What in the Pod says so, for example `nodeSelector cloud.google.com/gke-spot`. */
  readonly from: string;
};

type Capacity = { readonly label: string; readonly value: string; readonly noticeSeconds: number };

/** The labels are those of nodes, and the keys of their taints as well. Karpenter's is of AWS here, where most of it runs. */
const CAPACITIES: readonly Capacity[] = [
  { label: "cloud.google.com/gke-spot", value: "true", noticeSeconds: 30 },
  { label: "cloud.google.com/gke-preemptible", value: "true", noticeSeconds: 30 },
  { label: "kubernetes.azure.com/scalesetpriority", value: "spot", noticeSeconds: 30 },
  { label: "eks.amazonaws.com/capacityType", value: "SPOT", noticeSeconds: 120 },
  { label: "karpenter.sh/capacity-type", value: "spot", noticeSeconds: 120 },
];

/** The shortest of all that the Pod names: where it may run, it may end. A toleration of every taint names none. */
export function shortNoticeOf(pod: RawObject): ShortNotice | undefined {
  const found = CAPACITIES.flatMap((capacity) => {
    const place = placeNaming(pod, capacity);
    return place === undefined ? [] : [{ seconds: capacity.noticeSeconds, from: `${place} ${capacity.label}` }];
  });
  return found.sort((one, other) => one.seconds - other.seconds)[0];
}

function placeNaming(pod: RawObject, { label, value }: Capacity): string | undefined {
  const spec = objectAt(pod, "spec");
  if (textAt(objectAt(spec, "nodeSelector"), label) === value) return "nodeSelector";
  const expressions = requiredNodeTerms(pod).flatMap((term) => objectsAt(term, "matchExpressions"));
  if (expressions.some((expression) => mayMean(expression, label, value))) return "affinity";
  return objectsAt(spec, "tolerations").some((toleration) => tolerates(toleration, label, value))
    ? "toleration"
    : undefined;
}

function mayMean(expression: RawObject, label: string, value: string): boolean {
  if (textAt(expression, "key") !== label) return false;
  const operator = textAt(expression, "operator");
  return operator === "Exists" || (operator === "In" && listAt(expression, "values").includes(value));
}

function tolerates(toleration: RawObject, label: string, value: string): boolean {
  if (textAt(toleration, "key") !== label) return false;
  const operator = toleration["operator"];
  if (operator === "Exists") return true;
  return (isAbsent(operator) || operator === "Equal") && toleration["value"] === value;
}
