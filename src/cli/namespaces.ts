/** What Namespace documents in the input say about the workloads beside them. */
import { objectAt, type RawObject, textAt } from "../kubernetes/raw-json.ts";
import { ANNOTATIONS, PREFIX } from "../policy/annotation-table.ts";
import type { OpenManifest } from "./open-manifests.ts";

export type NamespaceAnnotations = ReadonlyMap<string, RawObject>;

/** Our own opt-in and those of Istio, whose redirection our port must stay out of. */
const OPT_IN_LABELS: readonly string[] = [`${PREFIX}${ANNOTATIONS.inject.name}`, "istio-injection", "istio.io/rev"];

/** The opt-ins of a namespace are labels; everything else is an annotation. */
export function namespacesIn(manifests: readonly OpenManifest[]): NamespaceAnnotations {
  const found = new Map<string, RawObject>();
  for (const document of manifests.flatMap(({ parsed }) => parsed.documents)) {
    const value = objectAt({ value: document.value }, "value");
    if (textAt(value, "kind") !== "Namespace" || textAt(value, "apiVersion") !== "v1") continue;
    const metadata = objectAt(value, "metadata");
    const name = textAt(metadata, "name");
    if (name === undefined) continue;
    const labels = Object.entries(objectAt(metadata, "labels") ?? {});
    const optIns = labels.filter(([key]) => OPT_IN_LABELS.includes(key));
    found.set(name, { ...objectAt(metadata, "annotations"), ...Object.fromEntries(optIns) });
  }
  return found;
}
