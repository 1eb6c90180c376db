/** Reads settings of Namespaces in the input, and warns about settings outside of Pod templates, which have no effect. */
import { objectAt, type RawObject, textAt } from "../kubernetes/raw-json.ts";
import { createManifestSet } from "../lint/manifest-set.ts";
import { settingsOutsidePods } from "../lint/rules/settings.ts";
import { INJECT } from "../policy/fields.ts";
import { placeOf } from "./manifest/place-of.ts";
import type { FileProblem, OpenManifest } from "./open-manifests.ts";
import type { InjectRequest } from "./request.ts";

type KnownNamespace = {
  readonly labels: RawObject;
  readonly annotations: RawObject;
};

/** Includes Istio's labels, because Istio's traffic redirection must exclude the manager's port. */
const OPT_IN_LABELS: readonly string[] = [INJECT, "istio-injection", "istio.io/rev"];

export function namespacesIn(manifests: readonly OpenManifest[]): ReadonlyMap<string, KnownNamespace> {
  const knownNamespaces = new Map<string, KnownNamespace>();
  for (const document of manifests.flatMap(({ parsed }) => parsed.documents)) {
    const value = objectAt({ value: document.value }, "value");
    if (textAt(value, "kind") !== "Namespace" || textAt(value, "apiVersion") !== "v1") continue;
    const metadata = objectAt(value, "metadata");
    const name = textAt(metadata, "name");
    if (name === undefined) continue;
    const labels = objectAt(metadata, "labels") ?? {};
    const optIns = Object.entries(labels).filter(([key]) => OPT_IN_LABELS.includes(key));
    const annotations = { ...objectAt(metadata, "annotations"), ...Object.fromEntries(optIns) };
    knownNamespaces.set(name, { labels, annotations });
  }
  return knownNamespaces;
}

export function settingWarnings(
  manifests: readonly OpenManifest[],
  { namespace, config }: InjectRequest,
): readonly FileProblem[] {
  return manifests.flatMap(({ name: file, text, parsed }) =>
    parsed.documents.flatMap(({ number, value, pods, tree }) => {
      const { objects } = createManifestSet([{ file, number, value, pods }], namespace);
      return objects
        .flatMap((object) => settingsOutsidePods(object, config.profiles))
        .map(({ path, message }) => ({ file, document: number, place: placeOf(text, tree, path), message }));
    }),
  );
}
