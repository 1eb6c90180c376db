/** Documents that look like a slip: left as they are, but worth a word. */
import { leftAlone } from "../kubernetes/left-alone.ts";
import { groupOf, type ListedObject, objectsIn, type Path, pathText } from "../kubernetes/listed-objects.ts";
import { templatesOf } from "../kubernetes/pod-template.ts";
import { isRawObject, textAt } from "../kubernetes/raw-json.ts";
import type { TemplatePath } from "../kubernetes/template-path.ts";
import { shapesIn } from "../kubernetes/template-shape.ts";
import { quote } from "../policy/quote.ts";
import type { ManifestProblem, ParsedDocument } from "./manifest/parse.ts";

/** Where Kubernetes itself has the kinds that hold Pods. Other groups may use the same names for other things. */
const HOME: Readonly<Record<string, readonly string[]>> = {
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
const BUILT_IN = ["v1", "apps", "batch", "extensions"];

export function odditiesOf(
  { number, value, pods }: ParsedDocument,
  named: readonly TemplatePath[],
): readonly ManifestProblem[] {
  const oddity = (message: string): readonly ManifestProblem[] => [{ document: number, place: undefined, message }];
  if (value === null) return [];
  if (!isRawObject(value))
    return oddity("this is no Kubernetes object (a mapping with apiVersion and kind); left as it is");
  const kind = textAt(value, "kind") ?? "";
  const apiVersion = textAt(value, "apiVersion") ?? "";
  const home = Object.hasOwn(HOME, kind) ? HOME[kind] : undefined;
  const group = apiVersion.split("/")[0] ?? "";
  if (kind === "List" && group === "v1" && !Array.isArray(value["items"]))
    return oddity("this List has no items that are a list; left as it is");
  const others = passedOver(value, named).flatMap(oddity);
  if (home === undefined) return others;
  if (home.includes(group)) {
    if (pods.length > 0) return others;
    return oddity(`this ${kind} has no ${templateOf(kind)} that is a mapping; left as it is`);
  }
  if (apiVersion === "") return oddity(`this ${kind} has no apiVersion; left as it is`);
  if (!BUILT_IN.includes(group)) return others;
  return oddity(`Kubernetes has no ${kind} in apiVersion ${quote(apiVersion)}; left as it is`);
}

function templateOf(kind: string): string {
  if (kind === "CronJob") return "spec.jobTemplate.spec.template";
  return kind === "PodTemplate" ? "template" : "spec.template";
}

/** One sentence for each such object. */
function passedOver(document: unknown, named: readonly TemplatePath[] = []): readonly string[] {
  return objectsIn(document).flatMap((listed) => sentencesOf(listed, named));
}

function sentencesOf(listed: ListedObject, named: readonly TemplatePath[]): readonly string[] {
  const { object, kind, apiVersion } = listed;
  const taken = templatesOf(listed, named).map(({ path }) => path);
  const { templates, lookAlikes } = shapesIn(object);
  const left = [...templates.map(({ path }) => path), ...lookAlikes].filter(
    (path) => !taken.some((other) => isWithin(path, other)),
  );
  const known = leftAlone(apiVersion, kind);
  if (known !== undefined) {
    const isWorthAWord = left.length > 0 || (known.onlyLooksLike !== true && taken.length === 0);
    return isWorthAWord ? [`this ${kind} is left as it is: ${known.reason}`] : [];
  }
  return left.map(
    (path) => `${pathText(path) || "the root"} of this ${kind || "document"} ${LOOKS}${hint(listed, path)}`,
  );
}

const LOOKS = "looks like a Pod, but no Pod template of the object holds it; left as it is";

/** A path can be named only where `metadata` and `spec` of a Pod would stand. */
function hint({ kind, apiVersion }: ListedObject, path: Path): string {
  const template = path.at(-1) === "spec" ? path.slice(0, -1) : path;
  if (template.length === 0 || (template === path && !/[tT]emplate$/.test(String(path.at(-1))))) return "";
  const group = groupOf(apiVersion);
  const prefix = kind === "" ? "" : `${kind}${group === "" ? "" : `.${group}`}=`;
  return ` (--template-path ${prefix}${pathText(template)} takes it)`;
}

function isWithin(path: Path, outer: Path): boolean {
  return outer.every((key, at) => path[at] === key);
}
