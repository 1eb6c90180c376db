/** Edits the text of a YAML document so that it parses to a given value. Bytes outside the changed entries stay. */
import { isAlias, isCollection, isMap, isNode, isSeq } from "yaml";
import { isRawObject, isSameJson } from "../../kubernetes/raw-json.ts";
import { createReplacement, editBlock } from "./block-edits.ts";
import { type Entry, entriesOf, isBlock } from "./entries.ts";
import { editFlow } from "./flow-edits.ts";
import { type ItemStep, listSteps, mappingSteps } from "./item-steps.ts";
import { applySplices, columnOf, eolAt, isFirstInLine, lineEnd, lineStart, type Splice } from "./lines.ts";
import { type Anchors, addMerged, isList, isMergeKey, readNode } from "./node-value.ts";
import { type ParsedDocument, parseManifest } from "./parse.ts";
import { preservingComment, readPreservedLines } from "./preserved-lines.ts";
import { styleOf, type YamlStyle } from "./render.ts";

type RewriteOptions = {
  readonly restore: boolean;
  readonly preserve: boolean;
  readonly style?: YamlStyle;
};

type EditContext = Required<RewriteOptions> & {
  readonly text: string;
  /** The value of each anchor after the edits so far. */
  readonly anchors: Anchors;
  readonly splices: Splice[];
};

/** @returns splices that should make the document equal `intended`; the caller must verify it by parsing */
export function rewriteDocument(
  text: string,
  document: ParsedDocument,
  intended: unknown,
  options: RewriteOptions,
): readonly Splice[] {
  const root = document.tree.contents;
  const anchors: Anchors = new Map();
  readNode(root, anchors);
  const context: EditContext = { text, anchors, splices: [], style: styleOf(text, root), ...options };
  editNode(context, root, intended);
  return context.splices;
}

/** @returns false, without splices, when the node cannot be edited inside */
function editNode(context: EditContext, node: unknown, intended: unknown): boolean {
  const spliceCount = context.splices.length;
  // An unchanged block value may contain aliases to restore.
  const isUnchanged = hasValue(context, node, intended) && !(context.restore && isBlock(node));
  const hasIntendedValue = isUnchanged || editEntries(context, node, intended);
  if (!hasIntendedValue) context.splices.length = spliceCount;
  setAnchor(context, node, intended);
  return hasIntendedValue;
}

function editEntries(context: EditContext, node: unknown, intended: unknown): boolean {
  const entries = entriesOf(context.text, node);
  const steps = entries === undefined ? undefined : stepsOf(context, node, entries, intended);
  if (entries === undefined || steps === undefined) return false;
  if (isBlock(node)) return editBlock(context, entries, steps, (entry, value) => editEntry(context, entry, value));
  const range = isCollection(node) ? node.range : undefined;
  if (!range) return false;
  return editFlow(context, range, entries, steps, (entry, value) => editFlowEntry(context, entry, value));
}

function stepsOf(
  context: EditContext,
  node: unknown,
  entries: readonly Entry[],
  intended: unknown,
): readonly ItemStep[] | undefined {
  if (isSeq(node)) {
    const oldItems = entries.map((entry) => currentValue(context, entry.node));
    return isList(intended) ? listSteps(oldItems, intended) : undefined;
  }
  if (!isMap(node) || !isRawObject(intended)) return undefined;
  const mergedValues: Record<string, unknown> = {};
  for (const pair of node.items) if (isMergeKey(pair.key)) addMerged(mergedValues, currentValue(context, pair.value));
  return mappingSteps(
    entries.map(({ key }) => key),
    mergedValues,
    intended,
  );
}

function editFlowEntry(context: EditContext, entry: Entry, value: unknown): boolean {
  if (hasValue(context, entry.node, value)) return true;
  return isEditableInside(context, entry, value) && editNode(context, entry.node, value);
}

function editEntry(context: EditContext, entry: Entry, value: unknown): void {
  const isSame = hasValue(context, entry.node, value);
  if (isSame && !context.restore) return;
  if (restoreLines(context, entry, (old) => !isSame && isSameJson(old, value))) return;
  if (isSame) {
    editNode(context, entry.node, value);
    return;
  }
  const spliceCount = context.splices.length;
  const isEditedInside = isEditableInside(context, entry, value) && editNode(context, entry.node, value);
  if (!isEditedInside) context.splices.push(createReplacement(context, entry, value));
  setAnchor(context, entry.node, value);
  // In block style each key below preserves its own lines.
  if (!isEditedInside || !isBlock(entry.node)) preserveLines(context, entry, spliceCount);
}

/** Values without common keys are replaced as a whole, because the result is easier to read. */
function isEditableInside(context: EditContext, { key, node }: Entry, intended: unknown): boolean {
  // An edit inside a hook would mix the author's handler with the injected one.
  if (key === "preStop") return false;
  const old = currentValue(context, node);
  if (!isRawObject(old) || !isRawObject(intended)) return isList(old) && isList(intended);
  const keys = Object.keys(old);
  const isEmptied = Object.keys(intended).length === 0 || keys.length === 0;
  return isEmptied || keys.some((name) => Object.hasOwn(intended, name));
}

function preserveLines(context: EditContext, { start, end }: Entry, spliceCount: number): void {
  const { text } = context;
  if (!context.preserve || !isFirstInLine(text, start)) return;
  // The lines below preserved lines were injected, so they need not be preserved.
  if (readPreservedLines(text, start) !== undefined) return;
  const firstLineStart = lineStart(text, start);
  const oldText = text.slice(firstLineStart, lineEnd(text, end));
  const relativeSplices = context.splices
    .slice(spliceCount)
    .map((s) => ({ ...s, start: s.start - firstLineStart, end: s.end - firstLineStart }));
  if (isReversible(context, oldText, applySplices(oldText, relativeSplices))) return;
  const comment = preservingComment(
    text.slice(firstLineStart, end),
    columnOf(text, start),
    eolAt(text, start, context.style.eol),
  );
  if (comment !== undefined)
    context.splices.splice(spliceCount, 0, { start: firstLineStart, end: firstLineStart, insert: comment });
}

function isReversible({ style }: EditContext, oldText: string, changedText: string | undefined): boolean {
  if (changedText === undefined) return false;
  const [before] = parseManifest(oldText).documents;
  const [after] = parseManifest(changedText).documents;
  if (before === undefined || after === undefined) return false;
  const restoringSplices = rewriteDocument(changedText, after, before.value, {
    restore: false,
    preserve: false,
    style,
  });
  return applySplices(changedText, restoringSplices) === oldText;
}

function restoreLines(
  context: EditContext,
  { key, start, end }: Entry,
  isIntended: (value: unknown) => boolean,
): boolean {
  if (!context.restore || !isFirstInLine(context.text, start)) return false;
  const preservedLines = readPreservedLines(context.text, start);
  if (preservedLines === undefined) return false;
  const { documents } = parseManifest(preservedLines.lines);
  const value = documents[0]?.value;
  const old = key === undefined ? isList(value) && value[0] : isRawObject(value) && value[key];
  // Lines with an alias cannot be evaluated alone; the final comparison verifies them.
  const isRestored = documents.length === 0 ? preservedLines.lines.includes("*") : isIntended(old);
  if (isRestored) context.splices.push({ start: preservedLines.start, end, insert: preservedLines.lines });
  return isRestored;
}

function currentValue(context: EditContext, node: unknown): unknown {
  return readNode(node, new Map(context.anchors)).value;
}

/** Whether the node has the value after the edits so far. If so, sets its anchors. */
function hasValue(context: EditContext, node: unknown, value: unknown): boolean {
  const anchors: Anchors = new Map(context.anchors);
  if (!isSameJson(readNode(node, anchors).value, value)) return false;
  for (const [name, anchored] of anchors) context.anchors.set(name, anchored);
  return true;
}

function setAnchor(context: EditContext, node: unknown, value: unknown): void {
  if (isNode(node) && !isAlias(node) && node.anchor !== undefined) context.anchors.set(node.anchor, value);
}
