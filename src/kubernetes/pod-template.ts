/** Where the Pods sit inside each kind of workload. */
import { leftAlone } from "./left-alone.ts";
import { groupOf, type ListedObject, objectsIn, type Path, pathText } from "./listed-objects.ts";
import { isRawObject, objectAt, type RawObject, textAt } from "./raw-json.ts";
import { type TemplatePath, templatesAt } from "./template-path.ts";
import { type FoundTemplate, shapesIn } from "./template-shape.ts";

/** One Pod inside a document: the path of keys to it, itself, and the namespace it will run in. */
export type PodPlace = {
  /** From the document's root; empty for a Pod. */
  readonly path: Path;
  /** A Pod, or a template of one: it may lack `metadata`. */
  readonly pod: RawObject;
  /** Of the document; empty when it does not say. */
  readonly namespace: string;
  /** Of the object around the Pod, for messages: `Deployment/web`. */
  readonly owner: string;
  /** Which of the object's templates it is, as a path; empty where the object has one alone. */
  readonly template: string;
  /** What stands beside the template and its operator writes into the Pods; `undefined` mostly. */
  readonly restartPolicy: string | undefined;
};

/** The groups matter: other groups have kinds of the same name with another shape. */
const TEMPLATES: ReadonlyMap<string, readonly string[]> = new Map([
  ["/Pod", []],
  ["/PodTemplate", ["template"]],
  ["/ReplicationController", ["spec", "template"]],
  ["apps/Deployment", ["spec", "template"]],
  ["apps/ReplicaSet", ["spec", "template"]],
  ["apps/StatefulSet", ["spec", "template"]],
  ["apps/DaemonSet", ["spec", "template"]],
  ["batch/Job", ["spec", "template"]],
  ["batch/CronJob", ["spec", "jobTemplate", "spec", "template"]],
]);

/** A kind of the core or of a group without a dot is Kubernetes' own: its Pods are where the table says, or nowhere. */
function isOwnGroup(apiVersion: string): boolean {
  return !groupOf(apiVersion).includes(".");
}

/**
 * Every Pod of a document: one for most workloads, many for a List, none for anything else.
 *
 * @param named places that hold Pods beside those that are found by themselves
 */
export function podsIn(document: unknown, named: readonly TemplatePath[] = []): readonly PodPlace[] {
  return objectsIn(document).flatMap((listed) => {
    const templates = templatesOf(listed, named);
    return templates.map((template) => placeOf(listed, template, templates.length > 1));
  });
}

/** Templates of one object, by paths from its own root. What a person names comes before what is found. */
export function templatesOf(listed: ListedObject, named: readonly TemplatePath[]): readonly FoundTemplate[] {
  const all = [...named.flatMap((path) => templatesAt(listed, path)), ...foundIn(listed)];
  // One Pod inside another cannot be edited apart from it.
  return all.filter(({ path }, at) => !all.slice(0, at).some((other) => overlap(other.path, path)));
}

function foundIn({ object, kind, apiVersion }: ListedObject): readonly FoundTemplate[] {
  const path = TEMPLATES.get(`${groupOf(apiVersion)}/${kind}`);
  if (path !== undefined) {
    const pod = path.reduce<RawObject | undefined>(objectAt, object);
    return pod === undefined ? [] : [{ path, pod }];
  }
  if (kind === "" || isOwnGroup(apiVersion) || leftAlone(apiVersion, kind) !== undefined) return [];
  return shapesIn(object).templates;
}

function overlap(one: Path, other: Path): boolean {
  const shorter = Math.min(one.length, other.length);
  return one.slice(0, shorter).every((key, at) => key === other[at]);
}

/** Kubeflow's `ExitCode` becomes `Never`: its operator restarts the Pod itself. */
function policyBeside(object: RawObject, path: Path): string | undefined {
  const parent = path.slice(0, -1).reduce<unknown>(partOf, object);
  const policy = isRawObject(parent) ? textAt(parent, "restartPolicy") : undefined;
  return policy === "ExitCode" ? "Never" : policy;
}

function partOf(value: unknown, key: string | number): unknown {
  if (Array.isArray(value)) return value[Number(key)];
  return isRawObject(value) ? value[key] : undefined;
}

function placeOf(
  { at, object, kind, apiVersion }: ListedObject,
  { path, pod }: FoundTemplate,
  isOneOfMany: boolean,
): PodPlace {
  const metadata = objectAt(object, "metadata");
  const name = textAt(metadata, "name") ?? textAt(metadata, "generateName") ?? "";
  return {
    path: [...at, ...path],
    pod,
    namespace: textAt(metadata, "namespace") ?? "",
    owner: name === "" ? kind : `${kind}/${name}`,
    template: isOneOfMany ? pathText(path) : "",
    restartPolicy: isOwnGroup(apiVersion) ? undefined : policyBeside(object, path),
  };
}

/** The document with the Pod at `path` replaced. Everything beside the path keeps its identity. */
export function withPodAt(document: unknown, path: readonly (string | number)[], pod: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return pod;
  if (Array.isArray(document)) {
    return document.map((item: unknown, index) => (index === key ? withPodAt(item, rest, pod) : item));
  }
  if (!isRawObject(document)) return document;
  return { ...document, [key]: withPodAt(document[key], rest, pod) };
}
