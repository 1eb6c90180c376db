/** Collects the objects of all manifests, and links workloads to Services, namespaces and autoscalers. */
import { isNamespace } from "../injection/opt-in/object-problems.ts";
import { ANY_RELEASE, selectionOf } from "../injection/opt-in/selection.ts";
import { findExistingInjection } from "../injection/record/existing-injection.ts";
import { type ListedObject, objectsIn, type Path } from "../kubernetes/listed-objects.ts";
import { annotationsOf, isForWindows, labelsOf, runsToCompletion } from "../kubernetes/pod.ts";
import type { LocatedPod } from "../kubernetes/pod-template.ts";
import { listAt, objectAt, objectsAt, type RawObject, textAt, wholeNumberAt } from "../kubernetes/raw-json.ts";
import { INJECT } from "../policy/fields.ts";
import type { Profiles } from "../policy/resolve.ts";

export type ManifestDocument = {
  readonly file: string;
  readonly number: number;
  readonly value: unknown;
  readonly pods: readonly LocatedPod[];
};

export type LocatedObject = ListedObject & {
  readonly document: ManifestDocument;
  readonly name: string;
  readonly namespace: string;
};

export type Workload = LocatedObject & {
  readonly pod: RawObject;
  /** Path from the document's root to the Pod or its template. */
  readonly podPath: Path;
  /** Whether the Pod has a lastcall manager, or the webhook would inject a manager. */
  readonly isInjected: boolean;
  /** Labels and annotations of the namespace, which may opt in to a mesh; empty if no manifest contains the namespace. */
  readonly namespaceMetadata: RawObject;
  readonly services: readonly LocatedObject[];
  /** Minimum number of Pods; `undefined` for kinds without replicas. */
  readonly replicas: number | undefined;
};

export type ManifestSet = {
  readonly objects: readonly LocatedObject[];
  readonly workloads: readonly Workload[];
  readonly profiles: Profiles;
};

export function createManifestSet(
  documents: readonly ManifestDocument[],
  namespace: string,
  profiles: Profiles = {},
): ManifestSet {
  const objects = documents.flatMap((document) =>
    objectsIn(document.value).map((listed) => locate(document, listed, namespace)),
  );
  const workloads = objects.flatMap((object) => workloadsOf(object, objects));
  return { objects, workloads, profiles };
}

function locate(document: ManifestDocument, listed: ListedObject, fallback: string): LocatedObject {
  const metadata = objectAt(listed.object, "metadata");
  const name = textAt(metadata, "name") ?? textAt(metadata, "generateName") ?? "";
  return { ...listed, document, name, namespace: textAt(metadata, "namespace") || fallback };
}

function workloadsOf(owner: LocatedObject, objects: readonly LocatedObject[]): readonly Workload[] {
  if (owner.apiVersion.startsWith("batch/")) return [];
  const namespace = namespaceOf(owner, objects);
  const namespaceLabels = labelsIn(namespace);
  const namespaceMetadata = { ...objectAt(namespace, "annotations"), ...namespaceLabels };
  return podsOf(owner)
    .filter(isLongRunning)
    .map(({ pod, path }) => ({
      ...owner,
      pod,
      podPath: path,
      isInjected: isInjected(pod, namespaceLabels),
      namespaceMetadata,
      services: objects.filter((object) => isServiceOf(object, pod, owner.namespace)),
      replicas: replicasOf(owner, objects),
    }));
}

export function podsOf(owner: LocatedObject): readonly LocatedPod[] {
  return owner.document.pods.filter(({ path }) => owner.objectPath.every((key, at) => path[at] === key));
}

function isLongRunning({ pod, restartPolicy }: LocatedPod): boolean {
  const completes = restartPolicy === "Never" || restartPolicy === "OnFailure" || runsToCompletion(pod);
  return !completes && !isForWindows(pod);
}

function isServiceOf(
  { kind, apiVersion, object, namespace }: LocatedObject,
  pod: RawObject,
  podNamespace: string,
): boolean {
  if (kind !== "Service" || apiVersion !== "v1" || namespace !== podNamespace) return false;
  return selectsByLabels(objectAt(objectAt(object, "spec"), "selector"), labelsOf(pod));
}

/** An unknown namespace counts as not opted in. */
function isInjected(pod: RawObject, namespaceLabels: RawObject | undefined): boolean {
  if (findExistingInjection(pod) !== undefined) return true;
  if (textAt(annotationsOf(pod), INJECT) === "disabled") return false;
  return selectionOf(pod, namespaceLabels, ANY_RELEASE).kind === "selected";
}

export function namespaceOf({ namespace }: LocatedObject, objects: readonly LocatedObject[]): RawObject | undefined {
  const namespaceObject = objects.find((object) => isNamespace(object) && object.name === namespace);
  return namespaceObject === undefined ? undefined : (objectAt(namespaceObject.object, "metadata") ?? {});
}

export function labelsIn(metadata: RawObject | undefined): RawObject | undefined {
  return metadata === undefined ? undefined : (objectAt(metadata, "labels") ?? {});
}

const SCALED_KINDS: readonly string[] = ["Deployment", "StatefulSet", "ReplicaSet", "ReplicationController"];

/** An autoscaler's minimum overrides the workload's replicas. */
function replicasOf(owner: LocatedObject, objects: readonly LocatedObject[]): number | undefined {
  const scaler = objects.find((object) => isScalerOf(object, owner));
  if (scaler !== undefined) return wholeNumberAt(objectAt(scaler.object, "spec"), "minReplicas") ?? 1;
  if (!SCALED_KINDS.includes(owner.kind)) return undefined;
  return wholeNumberAt(objectAt(owner.object, "spec"), "replicas") ?? 1;
}

function isScalerOf({ kind, object, namespace }: LocatedObject, owner: LocatedObject): boolean {
  if (kind !== "HorizontalPodAutoscaler" || namespace !== owner.namespace) return false;
  const target = objectAt(objectAt(object, "spec"), "scaleTargetRef");
  return textAt(target, "kind") === owner.kind && textAt(target, "name") === owner.name;
}

export function workloadsSelectedBy({ object, namespace }: LocatedObject, set: ManifestSet): readonly Workload[] {
  const selector = objectAt(objectAt(object, "spec"), "selector");
  return set.workloads.filter(
    (workload) => workload.namespace === namespace && selects(selector, labelsOf(workload.pod)),
  );
}

/** Evaluates a Service's selector, such as `{app: web}`. An empty selector selects nothing. */
export function selectsByLabels(selector: RawObject | undefined, labels: RawObject): boolean {
  const pairs = Object.entries(selector ?? {});
  return pairs.length > 0 && pairs.every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value);
}

/** Evaluates a LabelSelector. An empty selector selects everything, an absent selector nothing. */
export function selects(selector: RawObject | undefined, labels: RawObject): boolean {
  if (selector === undefined) return false;
  const matchLabels = objectAt(selector, "matchLabels");
  return (
    (matchLabels === undefined || Object.keys(matchLabels).length === 0 || selectsByLabels(matchLabels, labels)) &&
    objectsAt(selector, "matchExpressions").every((expression) => matchesExpression(expression, labels))
  );
}

function matchesExpression(expression: RawObject, labels: RawObject): boolean {
  const key = textAt(expression, "key") ?? "";
  const isPresent = Object.hasOwn(labels, key);
  const isListed = isPresent && listAt(expression, "values").includes(labels[key]);
  switch (textAt(expression, "operator")) {
    case "In":
      return isListed;
    case "NotIn":
      return !isListed;
    case "Exists":
      return isPresent;
    case "DoesNotExist":
      return !isPresent;
    default:
      return false;
  }
}
