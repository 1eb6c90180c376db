/** Finds Pods and Pod templates in documents. */

import { groupOf, type ListedObject, objectsIn, type Path, pathText } from "./listed-objects.ts";
import { isRawObject, objectAt, type RawObject, textAt } from "./raw-json.ts";
import { type TemplatePath, templatesAt } from "./template-path.ts";
import { type FoundTemplate, shapesIn } from "./template-shape.ts";
import { findUninjectedKind } from "./uninjected-kinds.ts";

export type LocatedPod = {
  readonly path: Path;
  /** A Pod or a Pod template, which may lack `metadata`. */
  readonly pod: RawObject;
  readonly namespace: string;
  /** The containing object, for messages: `Deployment/web`. */
  readonly owner: string;
  /** Path of the template in its object; empty if the object has only one template. */
  readonly templatePath: string;
  /** The field restartPolicy next to the template, which the kind's operator copies into the Pods. */
  readonly restartPolicy: string | undefined;
};

/** The keys include the group, because other groups have kinds of the same name with another structure. */
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

/** Groups without a dot belong to Kubernetes: TEMPLATES lists all Pod templates of their kinds. */
function isKubernetesGroup(apiVersion: string): boolean {
  return !groupOf(apiVersion).includes(".");
}

/** @param templatePaths paths of `--template-path`, in addition to the detected templates */
export function podsIn(document: unknown, templatePaths: readonly TemplatePath[] = []): readonly LocatedPod[] {
  return objectsIn(document).flatMap((listed) => {
    const templates = templatesOf(listed, templatePaths);
    return templates.map((template) => locatePod(listed, template, templates.length > 1));
  });
}

/** Paths start at the object. Templates of `--template-path` precede detected templates. */
export function templatesOf(listed: ListedObject, templatePaths: readonly TemplatePath[]): readonly FoundTemplate[] {
  const templates = [...templatePaths.flatMap((path) => templatesAt(listed, path)), ...detectedTemplates(listed)];
  // Nested templates cannot be edited independently.
  return templates.filter(({ path }, at) => !templates.slice(0, at).some((other) => pathsOverlap(other.path, path)));
}

function detectedTemplates({ object, kind, apiVersion }: ListedObject): readonly FoundTemplate[] {
  const path = TEMPLATES.get(`${groupOf(apiVersion)}/${kind}`);
  if (path !== undefined) {
    const pod = path.reduce<RawObject | undefined>(objectAt, object);
    return pod === undefined ? [] : [{ path, pod }];
  }
  if (kind === "" || isKubernetesGroup(apiVersion) || findUninjectedKind(apiVersion, kind) !== undefined) return [];
  return shapesIn(object).templates;
}

function pathsOverlap(left: Path, right: Path): boolean {
  const shorterLength = Math.min(left.length, right.length);
  return left.slice(0, shorterLength).every((key, at) => key === right[at]);
}

/** Kubeflow's `ExitCode` becomes `Never`: Kubeflow's operator restarts the Pod itself. */
function restartPolicyBesideTemplate(object: RawObject, path: Path): string | undefined {
  const parent = path.slice(0, -1).reduce<unknown>(childOf, object);
  const restartPolicy = isRawObject(parent) ? textAt(parent, "restartPolicy") : undefined;
  return restartPolicy === "ExitCode" ? "Never" : restartPolicy;
}

function childOf(value: unknown, key: string | number): unknown {
  if (Array.isArray(value)) return value[Number(key)];
  return isRawObject(value) ? value[key] : undefined;
}

function locatePod(
  { objectPath, object, kind, apiVersion }: ListedObject,
  { path, pod }: FoundTemplate,
  isOneOfMany: boolean,
): LocatedPod {
  const metadata = objectAt(object, "metadata");
  const name = textAt(metadata, "name") ?? textAt(metadata, "generateName") ?? "";
  return {
    path: [...objectPath, ...path],
    pod,
    namespace: textAt(metadata, "namespace") ?? "",
    owner: name === "" ? kind : `${kind}/${name}`,
    templatePath: isOneOfMany ? pathText(path) : "",
    restartPolicy: isKubernetesGroup(apiVersion) ? undefined : restartPolicyBesideTemplate(object, path),
  };
}

/** Replaces the Pod at `path` in a copy of the document; values outside of the path are shared, not copied. */
export function withPodAt(document: unknown, path: readonly (string | number)[], pod: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return pod;
  if (Array.isArray(document)) {
    return document.map((item: unknown, index) => (index === key ? withPodAt(item, rest, pod) : item));
  }
  if (!isRawObject(document)) return document;
  return { ...document, [key]: withPodAt(document[key], rest, pod) };
}
