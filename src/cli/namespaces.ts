/** What Namespace documents in the input say about the workloads beside them. */
import { objectAt, type RawObject, textAt, valueAt } from "../kubernetes/raw-json.ts";
import { ANNOTATIONS, PREFIX } from "../policy/annotation-table.ts";
import type { OpenManifest } from "./open-manifests.ts";

export type NamespaceAnnotations = ReadonlyMap<string, RawObject>;

const OPT_IN_LABEL = `${PREFIX}${ANNOTATIONS.inject.name}`;

/** The opt-in of a namespace is a label; everything else an annotation. */
export function namespacesIn(manifests: readonly OpenManifest[]): NamespaceAnnotations {
  const found = new Map<string, RawObject>();
  for (const document of manifests.flatMap(({ parsed }) => parsed.documents)) {
    const value = objectAt({ value: document.value }, "value");
    if (textAt(value, "kind") !== "Namespace" || textAt(value, "apiVersion") !== "v1") continue;
    const metadata = objectAt(value, "metadata");
    const name = textAt(metadata, "name");
    if (name === undefined) continue;
    const optIn = valueAt(objectAt(metadata, "labels"), OPT_IN_LABEL);
    found.set(name, {
      ...objectAt(metadata, "annotations"),
      ...(optIn === undefined ? {} : { [OPT_IN_LABEL]: optIn }),
    });
  }
  return found;
}
