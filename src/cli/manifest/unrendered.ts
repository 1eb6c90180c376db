/** Templates that are not rendered yet: Helm's and others' `{{ … }}`. */
import { type Document, isMap, isPair, isScalar, isSeq } from "yaml";
import { containersOf, initContainersOf } from "../../kubernetes/pod.ts";
import type { PodPlace } from "../../kubernetes/pod-template.ts";
import { textAt } from "../../kubernetes/raw-json.ts";

export const TEMPLATE_MESSAGE =
  "this is a template that has not been rendered yet ({{ … }}); run helm template (or your tool's equivalent) first and pipe its output here";

/** Some tools fill such templates in later, so this is no error. */
export const QUOTED_TEMPLATE_MESSAGE =
  "this looks like a template that has not been rendered yet ({{ … }}); it is taken as it stands";

/** Offset of the first `{{ … }}` that YAML cannot mean: a flow mapping as a key, or braces in a document with errors. */
export function unrenderedSyntax(text: string, tree: Document.Parsed): number | undefined {
  if (tree.errors.length === 0) return firstNode(tree.contents, isMappingAsKey);
  const offset = text.slice(0, tree.range[2]).search(/^[^#\n]*\{\{/m);
  return offset < 0 ? undefined : text.indexOf("{{", offset);
}

/** Offset of the first name, namespace or image of a workload that is a quoted template; elsewhere braces may be meant. */
export function unrenderedWorkload(pods: readonly PodPlace[], tree: Document.Parsed): number | undefined {
  const suspects = new Set(pods.flatMap(namesOf).filter(hasTemplate));
  if (suspects.size === 0) return undefined;
  return firstNode(tree.contents, (node) => isScalar(node) && suspects.has(String(node.value)));
}

function namesOf({ owner, namespace, pod }: PodPlace): readonly string[] {
  const containers = [...containersOf(pod), ...initContainersOf(pod)];
  const words = containers.flatMap((container) => [textAt(container, "name") ?? "", textAt(container, "image") ?? ""]);
  return [owner.slice(owner.indexOf("/") + 1), namespace, ...words];
}

function hasTemplate(text: string): boolean {
  return text.includes("{{");
}

/** YAML reads `{{ name }}` as a mapping whose key is a mapping; nothing in Kubernetes looks like that. */
function isMappingAsKey(node: unknown, isKey: boolean): boolean {
  return isKey && isMap(node) && node.flow === true;
}

/** Where the first node that is looked for starts, in the order of the text. */
function firstNode(root: unknown, isWanted: (node: unknown, isKey: boolean) => boolean): number | undefined {
  const open: { readonly node: unknown; readonly isKey: boolean }[] = [{ node: root, isKey: false }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, isKey } = next;
    if (isWanted(node, isKey)) return startOf(node);
    if (isPair(node)) open.push({ node: node.value, isKey: false }, { node: node.key, isKey: true });
    else if (!isKey && (isMap(node) || isSeq(node)))
      open.push(...[...node.items].reverse().map((item) => ({ node: item, isKey: false })));
  }
  return undefined;
}

function startOf(node: unknown): number | undefined {
  return isMap(node) || isScalar(node) ? node.range?.[0] : undefined;
}
