/** Templates that are not rendered yet: Helm's and others' `{{ … }}`. */
import { type Document, isMap, isScalar, visit } from "yaml";
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
  // YAML reads `{{ name }}` as a mapping whose key is a mapping; nothing in Kubernetes looks like that.
  if (tree.errors.length === 0)
    return firstNode(tree, (node, key) => key === "key" && isMap(node) && node.flow === true);
  const offset = text.slice(0, tree.range[2]).search(/^[^#\n]*\{\{/m);
  return offset < 0 ? undefined : text.indexOf("{{", offset);
}

/** Offset of the first name, namespace or image of a workload that is a quoted template; elsewhere braces may be meant. */
export function unrenderedWorkload(pods: readonly PodPlace[], tree: Document.Parsed): number | undefined {
  const suspects = new Set(pods.flatMap(namesOf).filter((word) => word.includes("{{")));
  if (suspects.size === 0) return undefined;
  return firstNode(tree, (node) => isScalar(node) && suspects.has(String(node.value)));
}

function namesOf({ owner, namespace, pod }: PodPlace): readonly string[] {
  const containers = [...containersOf(pod), ...initContainersOf(pod)];
  const words = containers.flatMap((container) => [textAt(container, "name") ?? "", textAt(container, "image") ?? ""]);
  return [owner.slice(owner.indexOf("/") + 1), namespace, ...words];
}

/** Where the first wanted node starts, in the order of the text. */
function firstNode(tree: Document.Parsed, isWanted: (node: unknown, key: unknown) => boolean): number | undefined {
  let found: number | undefined;
  visit(tree, {
    Value: (key, node) => {
      if (!isWanted(node, key)) return undefined;
      found = node.range?.[0];
      return visit.BREAK;
    },
  });
  return found;
}
