/** Edits YAML block collections by whole lines. */
import { isMap, isScalar } from "yaml";
import { isRawObject } from "../../kubernetes/raw-json.ts";
import { type Entry, isBlock } from "./entries.ts";
import type { Insert, ItemStep } from "./item-steps.ts";
import { columnOf, eolAt, isFirstInLine, lineAbove, lineEnd, removedLines, type Splice } from "./lines.ts";
import { isList } from "./node-value.ts";
import { readPreservedLines } from "./preserved-lines.ts";
import { renderAfterColon, renderFlow, renderItem, renderPair, renderScalar, type YamlStyle } from "./render.ts";

type BlockEditContext = { readonly text: string; readonly style: YamlStyle; readonly splices: Splice[] };

/** @returns false for a collection that would become empty, and for the inner list of `- - item` */
export function editBlock(
  context: BlockEditContext,
  entries: readonly Entry[],
  steps: readonly ItemStep[],
  editEntry: (entry: Entry, value: unknown) => void,
): boolean {
  const [first] = entries;
  if (first === undefined || steps.every(({ kind }) => kind === "remove")) return false;
  if (context.text[first.start] === "-" && !isFirstInLine(context.text, first.start) && first.key === undefined)
    return false;
  for (const step of steps) {
    const entry = entries[step.at];
    if (step.kind === "insert") context.splices.push(createInsertion(context, step, first, entry));
    else if (entry === undefined) return false;
    else if (step.kind === "keep") editEntry(entry, step.value);
    else context.splices.push(...createRemoval(context, entry, entries[step.at + 1]));
  }
  return true;
}

function createInsertion(
  { text, style }: BlockEditContext,
  { key, value }: Insert,
  first: Entry,
  previous: Entry | undefined,
): Splice {
  const insertOffset = lineEnd(text, previous?.end ?? lineAbove(text, first.start));
  const eol = eolAt(text, insertOffset, style.eol);
  const column = columnOf(text, first.start);
  const lineStyle = { ...style, eol };
  const renderedText =
    key === undefined ? renderItem(value, column, lineStyle) : renderPair(key, value, column, lineStyle);
  return { start: insertOffset, end: insertOffset, insert: eol + " ".repeat(column) + renderedText };
}

function createRemoval({ text }: BlockEditContext, { start, end }: Entry, next: Entry | undefined): readonly Splice[] {
  if (isFirstInLine(text, start)) return [removedLines(text, readPreservedLines(text, start)?.start ?? start, end)];
  return next === undefined ? [] : [{ start, end: next.start, insert: "" }];
}

export function createReplacement(
  context: BlockEditContext,
  { key, node, start, valueStart, end }: Entry,
  value: unknown,
): Splice {
  const { text } = context;
  const style = { ...context.style, eol: eolAt(text, start, context.style.eol) };
  const column = columnOf(text, start);
  if (key === undefined) {
    const isInBraces = isMap(node) && node.flow === true;
    return { start, end, insert: isInBraces ? `- ${renderFlow(value, style)}` : renderItem(value, column, style) };
  }
  const isCollection = isRawObject(value) || isList(value);
  const range = isScalar(node) ? node.range : undefined;
  const isEmpty = end === valueStart;
  if (range && !isEmpty && !isCollection && value !== null)
    return { start: range[0], end, insert: renderScalar(value, false) };
  const insert = renderAfterColon(value, column, style);
  // Keeps a comment on the key's line when lines below are added or removed.
  const isBelow = (isEmpty || isBlock(node)) && !insert.startsWith(" ") && (isEmpty || value === null);
  const replacementStart = isBelow ? lineEnd(text, valueStart) : valueStart;
  return { start: replacementStart, end: Math.max(replacementStart, end), insert };
}
