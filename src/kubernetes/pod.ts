/** A Pod as it comes over the wire, seen through readers that never trust its shape. */
import { isDnsLabel } from "../contract/untrusted-text.ts";
import { isAbsent, isRawObject, listAt, objectAt, objectsAt, type RawObject, textAt, valueAt } from "./raw-json.ts";

/** What the API server fills in when a Pod does not say; manifests on disk lack it. */
export const PULL_POLICIES = ["Always", "IfNotPresent", "Never"] as const;
export type PullPolicy = (typeof PULL_POLICIES)[number];

export const DEFAULT_GRACE_SECONDS = 30;

/** Longest name the API server takes. */
const NAME_LIMIT = 253;

/** What the API server takes of an object's annotations, in bytes of all their keys and values. */
export const ANNOTATIONS_LIMIT_BYTES = 262_144;

export type ContainerList = "initContainers" | "containers";

export function containersOf(pod: RawObject): readonly RawObject[] {
  return objectsAt(objectAt(pod, "spec"), "containers");
}

export function initContainersOf(pod: RawObject): readonly RawObject[] {
  return objectsAt(objectAt(pod, "spec"), "initContainers");
}

/** Containers that live as long as the Pod: the regular ones and native sidecars. */
export function lastingContainersOf(pod: RawObject): readonly RawObject[] {
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

/** The container of that name in either list. */
export function containerNamed(pod: RawObject, name: string): RawObject | undefined {
  const hasName = (container: RawObject) => container["name"] === name;
  return containersOf(pod).find(hasName) ?? initContainersOf(pod).find(hasName);
}

/** What {@link containerNamed} finds for each name, for those who ask for many. */
export function containersByName(pod: RawObject): ReadonlyMap<unknown, RawObject> {
  const found = new Map<unknown, RawObject>();
  for (const container of [...containersOf(pod), ...initContainersOf(pod)]) {
    if (!found.has(container["name"])) found.set(container["name"], container);
  }
  return found;
}

/** How many entries the lists of containers have, whatever they are. */
export function countContainers(pod: RawObject): number {
  const spec = objectAt(pod, "spec");
  return listAt(spec, "containers").length + listAt(spec, "initContainers").length;
}

/** For messages, so in printable characters only. Pods of controllers have no name yet when they are admitted. */
export function podName(pod: RawObject): string {
  const metadata = objectAt(pod, "metadata");
  const name = textAt(metadata, "name") ?? textAt(metadata, "generateName") ?? "";
  return name === "" ? "without name" : name.slice(0, NAME_LIMIT).replace(/[^\x20-\x7e]/g, "?");
}

/** Never and OnFailure end by themselves; Always is the default. */
export function runsToCompletion(pod: RawObject): boolean {
  const policy = textAt(objectAt(pod, "spec"), "restartPolicy");
  return policy === "Never" || policy === "OnFailure";
}

const OS_LABELS: readonly string[] = ["kubernetes.io/os", "beta.kubernetes.io/os"];

/** Said outright, by node selector, or by every term of a required affinity; anything less counts as Linux. */
export function isForWindows(pod: RawObject): boolean {
  const spec = objectAt(pod, "spec");
  if (textAt(objectAt(spec, "os"), "name") === "windows") return true;
  const selector = objectAt(spec, "nodeSelector");
  if (OS_LABELS.some((label) => textAt(selector, label) === "windows")) return true;
  const terms = requiredNodeTerms(pod);
  return terms.length > 0 && terms.every((term) => objectsAt(term, "matchExpressions").some(demandsWindows));
}

/** Of the node affinity; a node has to meet one of them. */
export function requiredNodeTerms(pod: RawObject): readonly RawObject[] {
  const affinity = objectAt(objectAt(objectAt(pod, "spec"), "affinity"), "nodeAffinity");
  return objectsAt(objectAt(affinity, "requiredDuringSchedulingIgnoredDuringExecution"), "nodeSelectorTerms");
}

function demandsWindows(expression: RawObject): boolean {
  const values = listAt(expression, "values");
  return (
    OS_LABELS.includes(textAt(expression, "key") ?? "") &&
    textAt(expression, "operator") === "In" &&
    values.length > 0 &&
    values.every((value) => value === "windows")
  );
}

/**
 * Whether every part that injection copies or reads by name has the shape the API server demands. Everything else
 * may be anything: the API server tells the user.
 */
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
  const all: readonly unknown[] = [...containers, ...listAt(spec, "initContainers")];
  return all.every(isContainer) && new Set(all.map((container) => nameOf(container as RawObject))).size === all.length;
}

/** Never more than the bytes. */
export function annotationCharacters(pod: RawObject): number {
  const annotations = annotationsOf(pod);
  let characters = 0;
  for (const key of Object.keys(annotations)) characters += key.length + (textAt(annotations, key)?.length ?? 0);
  return characters;
}

/** A container's name goes into flags and paths, so anything but a DNS label is refused. */
function isContainer(value: unknown): boolean {
  if (!isRawObject(value)) return false;
  const name = valueAt(value, "name");
  if (typeof name !== "string" || !isDnsLabel(name)) return false;
  const lifecycle = valueAt(value, "lifecycle");
  const parts = ["livenessProbe", "startupProbe", "resources"].map((key) => valueAt(value, key));
  return (
    isObjectOrAbsent(lifecycle) &&
    (!isRawObject(lifecycle) || isObjectOrAbsent(lifecycle["preStop"])) &&
    parts.every(isObjectOrAbsent)
  );
}

function isObjectOrAbsent(value: unknown): boolean {
  return isAbsent(value) || isRawObject(value);
}
