/** What is kept of a namespace: the annotations that injection reads, and none of the others. */
import { objectAt, type RawObject } from "../../kubernetes/raw-json.ts";
import { PREFIX } from "../../policy/annotation-table.ts";

export type KeptAnnotations = Readonly<Record<string, unknown>>;

/** Linkerd's opt-in; whether its proxy will capture our port hangs on it. */
const LINKERD_INJECT = "linkerd.io/inject";

/** Shared by every namespace that says nothing to us, which is nearly all of them. */
const NOTHING: KeptAnnotations = {};

export function keepNamespace(namespace: RawObject): KeptAnnotations {
  const annotations = objectAt(objectAt(namespace, "metadata"), "annotations") ?? {};
  const kept = Object.entries(annotations).filter(([key]) => key.startsWith(PREFIX) || key === LINKERD_INJECT);
  return kept.length === 0 ? NOTHING : Object.fromEntries(kept);
}
