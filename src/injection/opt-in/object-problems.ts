/** Reports problems in labels and annotations of a Namespace, a Pod, or an object with Pod templates. */
import type { ListedObject, Path } from "../../kubernetes/listed-objects.ts";
import { podName } from "../../kubernetes/pod.ts";
import type { LocatedPod } from "../../kubernetes/pod-template.ts";
import { isRawObject, objectAt, type RawObject, textAt } from "../../kubernetes/raw-json.ts";
import type { Profiles } from "../../policy/resolve.ts";
import { type MetadataProblem, metadataProblems, misplacedMetadataProblems } from "./metadata-problems.ts";

/** An object with its Pods and Pod templates. Paths start at `root`. */
export type PodBearingObject = ListedObject & { readonly root: unknown; readonly pods: readonly LocatedPod[] };

export type PlacedProblem = MetadataProblem & { readonly path: Path };

export function isNamespace({ kind, apiVersion }: ListedObject): boolean {
  return kind === "Namespace" && apiVersion === "v1";
}

/** Returns problems of a Namespace, and problems of a workload outside of its Pod templates. */
export function problemsOutsidePods(
  { pods, ...listed }: PodBearingObject,
  profiles: Profiles,
): readonly PlacedProblem[] {
  const { root, object, objectPath } = listed;
  const name = textAt(objectAt(object, "metadata"), "name") ?? "";
  const namespaceProblems = isNamespace(listed) ? metadataProblems({ scope: "namespace", name, object }, profiles) : [];
  return [
    ...namespaceProblems.map((found) => placeProblem(found, objectPath)),
    ...pods.flatMap(({ pod, path, owner }) =>
      ancestorsOfPod(root, objectPath, path).flatMap((ancestor) =>
        misplacedMetadataProblems(ancestor.object, owner, pod).map((found) => placeProblem(found, ancestor.path)),
      ),
    ),
  ];
}

export function problemsOfPods({ pods, objectPath }: PodBearingObject, profiles: Profiles): readonly PlacedProblem[] {
  return pods.flatMap(({ pod, path, owner }) => {
    const name = path.length === objectPath.length ? podName(pod) : `of ${owner}`;
    return metadataProblems({ scope: "pod", name, object: pod }, profiles).map((found) => placeProblem(found, path));
  });
}

function placeProblem(metadataProblem: MetadataProblem, path: Path): PlacedProblem {
  return { ...metadataProblem, path: [...path, "metadata", metadataProblem.metadataField, metadataProblem.key] };
}

type Ancestor = { readonly path: Path; readonly object: RawObject };

/** Objects from the workload down to the Pod template: a Deployment, or a CronJob and its Job template. */
function ancestorsOfPod(root: unknown, from: Path, to: Path): readonly Ancestor[] {
  const ancestors: Ancestor[] = [];
  let value: unknown = root;
  for (const [index, key] of to.entries()) {
    if (index >= from.length && isRawObject(value)) ancestors.push({ path: to.slice(0, index), object: value });
    value = Array.isArray(value) ? value[Number(key)] : isRawObject(value) ? value[key] : undefined;
  }
  return ancestors;
}
