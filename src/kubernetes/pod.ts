/** Reads unvalidated Pods. */
import { isDnsLabel } from "../contract/untrusted-text.ts";
import { isAbsent, isRawObject, listAt, objectAt, objectsAt, type RawObject, textAt, valueAt } from "./raw-json.ts";

export const PULL_POLICIES = ["Always", "IfNotPresent", "Never"] as const;
export type PullPolicy = (typeof PULL_POLICIES)[number];

/** The API server's default; manifests on disk may lack the field. */
export const DEFAULT_GRACE_SECONDS = 30;

/** The API server's limit on names. */
const NAME_LIMIT_CHARACTERS = 253;

/** The API server's limit on the keys and values of all annotations of an object. */
export const ANNOTATIONS_LIMIT_BYTES = 262_144;

export type ContainerList = "initContainers" | "containers";

export function containersOf(pod: RawObject): readonly RawObject[] {
  return objectsAt(objectAt(pod, "spec"), "containers");
}

export function initContainersOf(pod: RawObject): readonly RawObject[] {
  return objectsAt(objectAt(pod, "spec"), "initContainers");
}

/** Returns regular containers and native sidecars, which run as long as the Pod. */
export function longRunningContainersOf(pod: RawObject): readonly RawObject[] {
  return [...initContainersOf(pod).filter(isNativeSidecar), ...containersOf(pod)];
}

export function isNativeSidecar(initContainer: RawObject): boolean {
  return textAt(initContainer, "restartPolicy") === "Always";
}

export function nameOf(container: RawObject): string {
  return textAt(container, "name") ?? "";
}

export function annotationsOf(pod: RawObject): RawObject {
  return objectAt(objectAt(pod, "metadata"), "annotations") ?? {};
}

export function labelsOf(pod: RawObject): RawObject {
  return objectAt(objectAt(pod, "metadata"), "labels") ?? {};
}

export function containerNamed(pod: RawObject, name: string): RawObject | undefined {
  const hasName = (container: RawObject) => container["name"] === name;
  return containersOf(pod).find(hasName) ?? initContainersOf(pod).find(hasName);
}

/** Returns an index, which is faster than repeated calls of {@link containerNamed}. */
export function containersByName(pod: RawObject): ReadonlyMap<unknown, RawObject> {
  const containers = new Map<unknown, RawObject>();
  for (const container of [...containersOf(pod), ...initContainersOf(pod)]) {
    if (!containers.has(container["name"])) containers.set(container["name"], container);
  }
  return containers;
}

export function countContainers(pod: RawObject): number {
  const spec = objectAt(pod, "spec");
  return listAt(spec, "containers").length + listAt(spec, "initContainers").length;
}

/** Returns a name for messages, without unprintable characters. At admission a controller's Pods have only a generateName. */
export function podName(pod: RawObject): string {
  const metadata = objectAt(pod, "metadata");
  const name = textAt(metadata, "name") ?? textAt(metadata, "generateName") ?? "";
  return name === "" ? "without name" : name.slice(0, NAME_LIMIT_CHARACTERS).replace(/[^\x20-\x7e]/g, "?");
}

export function runsToCompletion(pod: RawObject): boolean {
  const restartPolicy = textAt(objectAt(pod, "spec"), "restartPolicy");
  return restartPolicy === "Never" || restartPolicy === "OnFailure";
}

const OS_LABELS: readonly string[] = ["kubernetes.io/os", "beta.kubernetes.io/os"];

/** Checks `spec.os`, the node selector, and every term of a required node affinity. Other Pods count as Linux. */
export function isForWindows(pod: RawObject): boolean {
  const spec = objectAt(pod, "spec");
  if (textAt(objectAt(spec, "os"), "name") === "windows") return true;
  const selector = objectAt(spec, "nodeSelector");
  if (OS_LABELS.some((label) => textAt(selector, label) === "windows")) return true;
  const terms = requiredNodeTerms(pod);
  return terms.length > 0 && terms.every((term) => objectsAt(term, "matchExpressions").some(requiresWindows));
}

export function requiredNodeTerms(pod: RawObject): readonly RawObject[] {
  const affinity = objectAt(objectAt(objectAt(pod, "spec"), "affinity"), "nodeAffinity");
  return objectsAt(objectAt(affinity, "requiredDuringSchedulingIgnoredDuringExecution"), "nodeSelectorTerms");
}

function requiresWindows(expression: RawObject): boolean {
  const values = listAt(expression, "values");
  return (
    OS_LABELS.includes(textAt(expression, "key") ?? "") &&
    textAt(expression, "operator") === "In" &&
    values.length > 0 &&
    values.every((value) => value === "windows")
  );
}

/** Validates only the fields that injection copies or reads: the API server validates the others. */
export function isWellFormed(pod: RawObject): boolean {
  const metadata = valueAt(pod, "metadata");
  const spec = objectAt(pod, "spec");
  if (spec === undefined || !isObjectOrAbsent(metadata)) return false;
  if (isRawObject(metadata) && !(isObjectOrAbsent(metadata["annotations"]) && isObjectOrAbsent(metadata["labels"])))
    return false;
  if (annotationCharacters(pod) > ANNOTATIONS_LIMIT_BYTES) return false;
  const grace = valueAt(spec, "terminationGracePeriodSeconds");
  if (!isAbsent(grace) && !(typeof grace === "number" && Number.isSafeInteger(grace) && grace >= 0)) return false;
  const containers = valueAt(spec, "containers");
  const initContainers = valueAt(spec, "initContainers");
  if (!Array.isArray(containers) || containers.length === 0) return false;
  if (!isAbsent(initContainers) && !Array.isArray(initContainers)) return false;
  const allContainers: readonly unknown[] = [...containers, ...listAt(spec, "initContainers")];
  return (
    allContainers.every(isWellFormedContainer) &&
    new Set(allContainers.map((container) => nameOf(container as RawObject))).size === allContainers.length
  );
}

/** Returns a lower bound of the annotations' size in bytes. */
export function annotationCharacters(pod: RawObject): number {
  const annotations = annotationsOf(pod);
  let characterCount = 0;
  for (const key of Object.keys(annotations)) characterCount += key.length + (textAt(annotations, key)?.length ?? 0);
  return characterCount;
}

/** Rejects names that are not DNS labels, because lastcall writes the names into flags and URL paths. */
function isWellFormedContainer(value: unknown): boolean {
  if (!isRawObject(value)) return false;
  const name = valueAt(value, "name");
  if (typeof name !== "string" || !isDnsLabel(name)) return false;
  const lifecycle = valueAt(value, "lifecycle");
  const objectFields = ["livenessProbe", "startupProbe", "resources"].map((key) => valueAt(value, key));
  return (
    isObjectOrAbsent(lifecycle) &&
    (!isRawObject(lifecycle) || isObjectOrAbsent(lifecycle["preStop"])) &&
    objectFields.every(isObjectOrAbsent)
  );
}

function isObjectOrAbsent(value: unknown): boolean {
  return isAbsent(value) || isRawObject(value);
}
