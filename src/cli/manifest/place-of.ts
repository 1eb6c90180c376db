/** The line of a field, or of the nearest one around it that is written down. */
import { type Document, isMap, isScalar, isSeq, type Node, type Pair } from "yaml";
import type { Path } from "../../kubernetes/listed-objects.ts";
import type { Place } from "./parse.ts";

export function placeOf(text: string, tree: Document.Parsed, path: Path): Place {
  let offset = startOf(tree.contents) ?? tree.range[0];
  let node: unknown = tree.contents;
  for (const key of path) {
    const step = stepInto(node, key);
    // What an alias or a merge key brings in is written elsewhere.
    if (step === undefined) break;
    offset = startOf(step.at) ?? offset;
    node = step.below;
  }
  const before = text.slice(0, offset);
  const lineStart = before.lastIndexOf("\n") + 1;
  return { line: before.split("\n").length, column: offset - lineStart + 1 };
}

type Step = { readonly at: unknown; readonly below: unknown };

function stepInto(node: unknown, key: string | number): Step | undefined {
  if (isSeq(node) && typeof key === "number") {
    const item = node.items[key];
    return item === undefined ? undefined : { at: item, below: item };
  }
  if (!isMap(node)) return undefined;
  // Of a key given twice the last one counts.
  const pair = (node.items as Pair[]).findLast(
    (candidate) => isScalar(candidate.key) && String(candidate.key.value) === String(key),
  );
  return pair === undefined ? undefined : { at: pair.key, below: pair.value };
}

function startOf(node: unknown): number | undefined {
  return (node as Node | null | undefined)?.range?.[0];
}
