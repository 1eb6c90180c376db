/** Documents that look like a slip: left as they are, but worth a word. */
import { passedOver } from "../kubernetes/passed-over.ts";
import { isRawObject, textAt } from "../kubernetes/raw-json.ts";
import type { TemplatePath } from "../kubernetes/template-path.ts";
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
