/** Formats a patch for review: a map or list that fits on one line is on one line. */
import type { Operation } from "fast-json-patch";
import { Document, isCollection, visit } from "yaml";

const WIDTH = 120;

export function readablePatch(patch: readonly Operation[]): string {
  const document = new Document(patch);
  visit(document, {
    Collection: (_key, node, path) => {
      const column = 2 * path.filter(isCollection).length;
      if (column > 0) node.flow = column + JSON.stringify(node).length <= WIDTH;
    },
  });
  return document.toString({ lineWidth: 0 });
}
