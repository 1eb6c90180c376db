/** Edits of a list in block style. */
import { isMap, type YAMLSeq } from "yaml";
import { sameJson } from "../../kubernetes/raw-json.ts";
import { alignItems } from "./align.ts";
import { insertLines, lineAbove, removeLines } from "./block-lines.ts";
import { keepLines, restoreLines } from "./kept-lines.ts";
import { columnOf, dashOf, endOfItem, startsItsLine } from "./layout.ts";
import { isList } from "./plain-value.ts";
import { renderFlow, renderItem } from "./render.ts";
import { fits, meaningOf, type Work } from "./work.ts";

/** @returns false when the list becomes empty, or its first dash shares a line with another. */
export function rewriteBlockList(work: Work, node: YAMLSeq, intended: readonly unknown[]): boolean {
  if (intended.length === 0) return false;
  const old = node.items.map((item) => meaningOf(work, item));
  const first = dashOf(node, 0);
  if (first < 0 || !startsItsLine(work.text, first)) return sameJson(old, intended);
  for (const step of alignItems(old, intended)) {
    if (step.kind === "keep") rewriteItem(work, node, { index: step.index, value: step.value });
    else if (step.kind === "remove")
      removeLines(work, dashOf(node, step.index), endOfItem(work.text, node, step.index));
    else {
      const column = columnOf(work.text, first);
      const above = step.after < 0 ? lineAbove(work.text, first) : endOfItem(work.text, node, step.after);
      insertLines(work, above, (habits) => " ".repeat(column) + renderItem(step.value, column, habits));
    }
  }
  return true;
}

function rewriteItem(work: Work, list: YAMLSeq, what: { readonly index: number; readonly value: unknown }): void {
  const item = list.items[what.index];
  if (fits(work, item, what.value)) return;
  const dash = dashOf(list, what.index);
  const extent = { start: dash, end: endOfItem(work.text, list, what.index) };
  // Only what was edited inside braces is kept at the dash; in block style each key keeps its own lines.
  const isInline = !isMap(item) || item.flow === true;
  if (isInline && restoreLines(work, extent, (kept) => isList(kept) && sameJson(kept[0], what.value))) return;
  const before = { splices: work.splices.length, lossy: work.lossy };
  work.lossy = false;
  const inside = work.rewrite(item, what.value);
  if (inside && work.lossy && isInline) work.splices.splice(before.splices, 0, ...keepLines(work, extent));
  work.lossy = before.lossy;
  if (inside) return;
  const column = columnOf(work.text, dash);
  const text = isInline && isMap(item) ? `- ${renderFlow(what.value, work.habits)}` : undefined;
  work.splices.push(...keepLines(work, extent), {
    ...extent,
    insert: text ?? renderItem(what.value, column, work.habits),
  });
}
