/** Locates a field in the text, or its nearest existing ancestor. */
import { type Document, isMap, isScalar, isSeq, type Node, type Pair } from "yaml";
import type { Path } from "../../kubernetes/listed-objects.ts";
import type { Place } from "./parse.ts";

export function placeOf(text: string, tree: Document.Parsed, path: Path): Place {
  let offset = startOf(tree.contents) ?? tree.range[0];
  let node: unknown = tree.contents;
  for (const key of path) {
    const step = stepInto(node, key);
    // Fields from an alias or a merge key are located at the alias.
    if (step === undefined) break;
    offset = startOf(step.locatedNode) ?? offset;
    node = step.child;
  }
  const textBefore = text.slice(0, offset);
  const lineStart = textBefore.lastIndexOf("\n") + 1;
  return { line: textBefore.split("\n").length, column: offset - lineStart + 1 };
}

type Step = { readonly locatedNode: unknown; readonly child: unknown };

function stepInto(node: unknown, key: string | number): Step | undefined {
  if (isSeq(node) && typeof key === "number") {
    const item = node.items[key];
    return item === undefined ? undefined : { locatedNode: item, child: item };
  }
  if (!isMap(node)) return undefined;
  const pair = (node.items as Pair[]).findLast(
    (candidate) => isScalar(candidate.key) && String(candidate.key.value) === String(key),
  );
  return pair === undefined ? undefined : { locatedNode: pair.key, child: pair.value };
}

function startOf(node: unknown): number | undefined {
  return (node as Node | null | undefined)?.range?.[0];
}
