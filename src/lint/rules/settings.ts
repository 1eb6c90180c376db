/** Labels and annotations of lastcall that do nothing, or not what they say. */
import { type MetadataProblem, metadataProblems, misplacedMetadata } from "../../injection/opt-in/metadata-problems.ts";
import { ANY_RELEASE, selectionOf } from "../../injection/opt-in/selection.ts";
import type { Path } from "../../kubernetes/listed-objects.ts";
import { annotationsOf, labelsOf } from "../../kubernetes/pod.ts";
import { isRawObject, type RawObject } from "../../kubernetes/raw-json.ts";
import { INJECT } from "../../policy/annotation-table.ts";
import type { Profiles } from "../../policy/resolve.ts";
import { isNamespace, type Located, labelsIn, type ManifestSet, namespaceOf, podsOf } from "../manifest-set.ts";
import type { Rule, Violation } from "../rule.ts";

export const LASTCALL_SETTING: Rule = {
  id: "lastcall-setting",
  title: "A label or annotation of lastcall has no effect",
  why: "A misspelt name, an unreadable value or a setting on the wrong object changes nothing: the Pod ends with the next farther value or the default, or is not injected at all.",
  remedy: "Correct it; the reference lists every annotation. Profiles of the cluster configuration need --config.",
  level: "error",
  check: (set) =>
    set.objects.flatMap((object) => [...settingsAroundPods(object, set.profiles), ...settingsOfPods(object, set)]),
};

/** Of namespaces, and of workloads beside their Pod template. */
export function settingsAroundPods(at: Located, profiles: Profiles): readonly Violation[] {
  const ofNamespace = isNamespace(at)
    ? metadataProblems({ scope: "namespace", name: at.name, object: at.object }, profiles)
    : [];
  const around = podsOf(at).flatMap(({ pod, path, owner }) =>
    objectsAround(at.document.value, at.at, path).flatMap(({ object, path: below }) =>
      misplacedMetadata(object, owner, pod).map((one) => violation(at, below, one)),
    ),
  );
  return [...ofNamespace.map((one) => violation(at, at.at, one)), ...around];
}

function settingsOfPods(at: Located, { objects, profiles }: ManifestSet): readonly Violation[] {
  const namespaceLabels = labelsIn(namespaceOf(at, objects));
  return podsOf(at).flatMap(({ pod, path, owner }) => [
    ...metadataProblems({ scope: "pod", name: owner, object: pod }, profiles).map((one) => violation(at, path, one)),
    ...annotationOnly(pod, namespaceLabels, path).map((one) => ({ at, ...one })),
  ]);
}

function violation(at: Located, path: Path, { in: map, key, value, problem }: MetadataProblem): Violation {
  return { at, path: [...path, "metadata", map, key], value, message: problem.message };
}

/** An annotation opts in only beside a label; with an unknown namespace there may be one. */
function annotationOnly(
  pod: RawObject,
  namespaceLabels: RawObject | undefined,
  path: Path,
): readonly Omit<Violation, "at">[] {
  if (annotationsOf(pod)[INJECT] !== "enabled" || Object.hasOwn(labelsOf(pod), INJECT)) return [];
  const selection = selectionOf(pod, namespaceLabels, ANY_RELEASE);
  if (selection.kind !== "not-selected") return [];
  const message = `This Pod is not injected: ${selection.because}.`;
  return [{ path: [...path, "metadata", "annotations", INJECT], value: "enabled", message }];
}

type Around = { readonly path: Path; readonly object: RawObject };

/** From the object to the Pod template in it: a Deployment, or a CronJob and the template of its Jobs. */
function objectsAround(document: unknown, from: Path, to: Path): readonly Around[] {
  const found: Around[] = [];
  let value: unknown = document;
  for (const [index, key] of to.entries()) {
    if (index >= from.length && isRawObject(value)) found.push({ path: to.slice(0, index), object: value });
    value = Array.isArray(value) ? value[Number(key)] : isRawObject(value) ? value[key] : undefined;
  }
  return found;
}
