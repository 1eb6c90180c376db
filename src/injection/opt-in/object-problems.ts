/** Mistakes in the labels and annotations under our prefix on one object: a Namespace, a Pod, or anything with Pod templates. */
import type { ListedObject, Path } from "../../kubernetes/listed-objects.ts";
import { podName } from "../../kubernetes/pod.ts";
import type { PodPlace } from "../../kubernetes/pod-template.ts";
import { isRawObject, objectAt, type RawObject, textAt } from "../../kubernetes/raw-json.ts";
import type { Profiles } from "../../policy/resolve.ts";
import { type MetadataProblem, metadataProblems, misplacedMetadata } from "./metadata-problems.ts";

/** An object, and the Pods and Pod templates in it. Paths are from the root. */
export type Bearer = ListedObject & { readonly root: unknown; readonly pods: readonly PodPlace[] };

/** `path` leads to the key. */
export type PlacedProblem = MetadataProblem & { readonly path: Path };

export function isNamespace({ kind, apiVersion }: ListedObject): boolean {
  return kind === "Namespace" && apiVersion === "v1";
}

/** Of a Namespace, and of a workload beside its Pod templates. */
export function problemsAroundPods({ pods, ...listed }: Bearer, profiles: Profiles): readonly PlacedProblem[] {
  const { root, object, at } = listed;
  const name = textAt(objectAt(object, "metadata"), "name") ?? "";
  const ofNamespace = isNamespace(listed) ? metadataProblems({ scope: "namespace", name, object }, profiles) : [];
  return [
    ...ofNamespace.map((found) => placed(found, at)),
    ...pods.flatMap(({ pod, path, owner }) =>
      objectsAround(root, at, path).flatMap((around) =>
        misplacedMetadata(around.object, owner, pod).map((found) => placed(found, around.path)),
      ),
    ),
  ];
}

export function problemsOfPods({ pods, at }: Bearer, profiles: Profiles): readonly PlacedProblem[] {
  return pods.flatMap(({ pod, path, owner }) => {
    const name = path.length === at.length ? podName(pod) : `of ${owner}`;
    return metadataProblems({ scope: "pod", name, object: pod }, profiles).map((found) => placed(found, path));
  });
}

function placed(found: MetadataProblem, path: Path): PlacedProblem {
  return { ...found, path: [...path, "metadata", found.in, found.key] };
}

type Around = { readonly path: Path; readonly object: RawObject };

/** From the object to the Pod template in it: a Deployment, or a CronJob and the template of its Jobs. */
function objectsAround(root: unknown, from: Path, to: Path): readonly Around[] {
  const found: Around[] = [];
  let value: unknown = root;
  for (const [index, key] of to.entries()) {
    if (index >= from.length && isRawObject(value)) found.push({ path: to.slice(0, index), object: value });
    value = Array.isArray(value) ? value[Number(key)] : isRawObject(value) ? value[key] : undefined;
  }
  return found;
}
