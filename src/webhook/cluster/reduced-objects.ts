/** Reduces namespaces and LimitRanges to the fields that injection reads. Pure. */
import { OPENSHIFT_USER_RANGE } from "../../injection/manager/run-as-user.ts";
import { type LimitRange, readLimitRange } from "../../kubernetes/limit-range.ts";
import { objectAt, type RawObject } from "../../kubernetes/raw-json.ts";
import { PREFIX } from "../../policy/fields.ts";

export type RelevantAnnotations = Readonly<Record<string, unknown>>;

/** Linkerd's annotations that decide whether its proxy captures the manager's port. */
const LINKERD_ANNOTATIONS: readonly string[] = ["linkerd.io/inject", "config.linkerd.io/skip-inbound-ports"];

const ISTIO_LABELS: readonly string[] = ["istio-injection", "istio.io/rev"];

const OTHER_ANNOTATIONS: readonly string[] = [...LINKERD_ANNOTATIONS, OPENSHIFT_USER_RANGE];

/** One shared object for the many namespaces without relevant annotations, to save memory. */
const NO_ANNOTATIONS: RelevantAnnotations = {};

export function reduceNamespace(namespace: RawObject): RelevantAnnotations {
  const metadata = objectAt(namespace, "metadata");
  const annotations = Object.entries(objectAt(metadata, "annotations") ?? {});
  const labels = Object.entries(objectAt(metadata, "labels") ?? {});
  const relevant = [
    ...annotations.filter(([key]) => key.startsWith(PREFIX) || OTHER_ANNOTATIONS.includes(key)),
    ...labels.filter(([key]) => ISTIO_LABELS.includes(key)),
  ];
  return relevant.length === 0 ? NO_ANNOTATIONS : Object.fromEntries(relevant);
}

/** `undefined` for a LimitRange without limits for containers or Pods. */
export function reduceLimitRange(object: RawObject): LimitRange | undefined {
  const range = readLimitRange(object);
  return range.items.length === 0 ? undefined : range;
}

/** Sorts each namespace's LimitRanges by name, so that all replicas apply them in the same order. */
export function byNamespace(entries: ReadonlyMap<string, LimitRange>): ReadonlyMap<string, readonly LimitRange[]> {
  const rangesByNamespace = new Map<string, LimitRange[]>();
  for (const [key, range] of entries) {
    const namespace = key.slice(0, Math.max(0, key.indexOf("/")));
    const group = rangesByNamespace.get(namespace);
    if (group === undefined) rangesByNamespace.set(namespace, [range]);
    else group.push(range);
  }
  for (const group of rangesByNamespace.values()) group.sort((left, right) => (left.name < right.name ? -1 : 1));
  return rangesByNamespace;
}
