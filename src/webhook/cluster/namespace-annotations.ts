/** What is kept of a namespace: the annotations and labels that injection reads, and none of the others. */
import { OPENSHIFT_USER_RANGE } from "../../injection/manager/run-as-user.ts";
import { objectAt, type RawObject } from "../../kubernetes/raw-json.ts";
import { PREFIX } from "../../policy/annotation-table.ts";

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
