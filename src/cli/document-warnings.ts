/** Warns about documents that are left unchanged although they may contain Pods. */

import { groupOf, type ListedObject, objectsIn, type Path, pathText } from "../kubernetes/listed-objects.ts";
import { templatesOf } from "../kubernetes/pod-template.ts";
import { isRawObject, textAt } from "../kubernetes/raw-json.ts";
import type { TemplatePath } from "../kubernetes/template-path.ts";
import { shapesIn } from "../kubernetes/template-shape.ts";
import { findUninjectedKind } from "../kubernetes/uninjected-kinds.ts";
import { quote } from "../policy/quote.ts";
import type { ManifestProblem, ParsedDocument } from "./manifest/parse.ts";

/** API groups of Kubernetes' own kinds that contain Pods. Other groups may use the same names for other kinds. */
const API_GROUPS_BY_KIND: Readonly<Record<string, readonly string[]>> = {
  Pod: ["v1"],
  PodTemplate: ["v1"],
  ReplicationController: ["v1"],
  Deployment: ["apps", "extensions"],
  ReplicaSet: ["apps", "extensions"],
  StatefulSet: ["apps"],
  DaemonSet: ["apps", "extensions"],
  Job: ["batch"],
  CronJob: ["batch"],
};
const BUILT_IN_GROUPS = ["v1", "apps", "batch", "extensions"];

export function documentWarnings(
  { number, value, pods }: ParsedDocument,
  knownPaths: readonly TemplatePath[],
): readonly ManifestProblem[] {
  const warning = (message: string): readonly ManifestProblem[] => [{ document: number, place: undefined, message }];
  if (value === null) return [];
  if (!isRawObject(value))
    return warning("this is not a Kubernetes object (a mapping with apiVersion and kind); left unchanged");
  const kind = textAt(value, "kind") ?? "";
  const apiVersion = textAt(value, "apiVersion") ?? "";
  const validGroups = Object.hasOwn(API_GROUPS_BY_KIND, kind) ? API_GROUPS_BY_KIND[kind] : undefined;
  const group = apiVersion.split("/")[0] ?? "";
  if (kind === "List" && group === "v1" && !Array.isArray(value["items"]))
    return warning("the field items of this List is not a list; left unchanged");
  const templateWarnings = ignoredTemplates(value, knownPaths).flatMap(warning);
  if (validGroups === undefined) return templateWarnings;
  if (validGroups.includes(group)) {
    if (pods.length > 0) return templateWarnings;
    return warning(`this ${kind} has no mapping at ${templateOf(kind)}; left unchanged`);
  }
  if (apiVersion === "") return warning(`this ${kind} has no apiVersion; left unchanged`);
  if (!BUILT_IN_GROUPS.includes(group)) return templateWarnings;
  return warning(`Kubernetes has no ${kind} in apiVersion ${quote(apiVersion)}; left unchanged`);
}

function templateOf(kind: string): string {
  if (kind === "CronJob") return "spec.jobTemplate.spec.template";
  return kind === "PodTemplate" ? "template" : "spec.template";
}

function ignoredTemplates(document: unknown, knownPaths: readonly TemplatePath[] = []): readonly string[] {
  return objectsIn(document).flatMap((listed) => ignoredTemplatesOf(listed, knownPaths));
}

function ignoredTemplatesOf(listed: ListedObject, knownPaths: readonly TemplatePath[]): readonly string[] {
  const { object, kind, apiVersion } = listed;
  const recognizedPaths = templatesOf(listed, knownPaths).map(({ path }) => path);
  const { templates, podShapes } = shapesIn(object);
  const ignoredPaths = [...templates.map(({ path }) => path), ...podShapes].filter(
    (path) => !recognizedPaths.some((other) => isWithin(path, other)),
  );
  const exception = findUninjectedKind(apiVersion, kind);
  if (exception !== undefined) {
    const isRelevant =
      ignoredPaths.length > 0 || (exception.warnsOnlyAboutPodShapes !== true && recognizedPaths.length === 0);
    return isRelevant ? [`this ${kind} is left unchanged: ${exception.reason}`] : [];
  }
  return ignoredPaths.map(
    (path) =>
      `${pathText(path) || "the root"} of this ${kind || "document"} ${NOT_RECOGNIZED}${templatePathHint(listed, path)}`,
  );
}

const NOT_RECOGNIZED = "has the shape of a Pod, but is not in a known Pod template; left unchanged";

/** `--template-path` needs the parent of a Pod's `metadata` and `spec`. */
function templatePathHint({ kind, apiVersion }: ListedObject, path: Path): string {
  const template = path.at(-1) === "spec" ? path.slice(0, -1) : path;
  if (template.length === 0 || (template === path && !/[tT]emplate$/.test(String(path.at(-1))))) return "";
  const group = groupOf(apiVersion);
  const prefix = kind === "" ? "" : `${kind}${group === "" ? "" : `.${group}`}=`;
  return ` (pass --template-path ${prefix}${pathText(template)} to inject it)`;
}

function isWithin(path: Path, ancestor: Path): boolean {
  return ancestor.every((key, at) => path[at] === key);
}
