/** Cuts namespaces and LimitRanges down to what injection reads. Pure. */
import { OPENSHIFT_USER_RANGE } from "../../injection/manager/run-as-user.ts";
import { type LimitRange, readLimitRange } from "../../kubernetes/limit-range.ts";
import { objectAt, type RawObject } from "../../kubernetes/raw-json.ts";
import { PREFIX } from "../../policy/fields.ts";

export type KeptAnnotations = Readonly<Record<string, unknown>>;

/** Linkerd's opt-in, and what its Pods inherit: whether its proxy will capture our port hangs on them. */
const LINKERD: readonly string[] = ["linkerd.io/inject", "config.linkerd.io/skip-inbound-ports"];

/** Istio opts in by label. */
const ISTIO: readonly string[] = ["istio-injection", "istio.io/rev"];

/** By others than us. */
const OTHERS: readonly string[] = [...LINKERD, OPENSHIFT_USER_RANGE];

/** Shared by every namespace that says nothing to us, which is nearly all of them. */
const NOTHING: KeptAnnotations = {};

export function keepNamespace(namespace: RawObject): KeptAnnotations {
  const metadata = objectAt(namespace, "metadata");
  const annotations = Object.entries(objectAt(metadata, "annotations") ?? {});
  const labels = Object.entries(objectAt(metadata, "labels") ?? {});
  const kept = [
    ...annotations.filter(([key]) => key.startsWith(PREFIX) || OTHERS.includes(key)),
    ...labels.filter(([key]) => ISTIO.includes(key)),
  ];
  return kept.length === 0 ? NOTHING : Object.fromEntries(kept);
}

/** `undefined` for one that limits neither containers nor Pods. */
export function keepLimitRange(object: RawObject): LimitRange | undefined {
  const range = readLimitRange(object);
  return range.items.length === 0 ? undefined : range;
}

/** Each namespace's own in the order of their names, so that every replica sees the same. */
export function byNamespace(entries: ReadonlyMap<string, LimitRange>): ReadonlyMap<string, readonly LimitRange[]> {
  const grouped = new Map<string, LimitRange[]>();
  for (const [key, range] of entries) {
    const namespace = key.slice(0, Math.max(0, key.indexOf("/")));
    const group = grouped.get(namespace);
    if (group === undefined) grouped.set(namespace, [range]);
    else group.push(range);
  }
  for (const group of grouped.values()) group.sort((left, right) => (left.name < right.name ? -1 : 1));
  return grouped;
}
