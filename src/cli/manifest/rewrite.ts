/** Edits the text of a document to have another value, with minimal changes; all other bytes stay. */
import { isAlias, isCollection, isMap, isNode, isSeq } from "yaml";
import { isRawObject, sameJson } from "../../kubernetes/raw-json.ts";
import { editBlock, replacement } from "./block-edits.ts";
import { type Entry, entriesOf, isBlock } from "./entries.ts";
import { editFlow } from "./flow-edits.ts";
import { type ItemStep, listSteps, mapSteps } from "./item-steps.ts";
import { applySplices, columnOf, eolAt, lineEnd, lineStart, type Splice, startsItsLine } from "./lines.ts";
import { type Anchors, addMerged, isList, isMergeKey, readNode } from "./node-value.ts";
import { type ParsedDocument, parseManifest } from "./parse.ts";
import { preservedLines, readPreservedLines } from "./preserved-lines.ts";
import { styleOf, type YamlStyle } from "./render.ts";

type Options = {
  readonly restore: boolean;
  readonly preserve: boolean;
  readonly style?: YamlStyle;
};

type EditContext = Required<Options> & {
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
  options: Options,
): readonly Splice[] {
  const root = document.tree.contents;
  const anchors: Anchors = new Map();
  readNode(root, anchors);
  const work: EditContext = { text, anchors, splices: [], style: styleOf(text, root), ...options };
  editNode(work, root, intended);
  return work.splices;
}

/** @returns false, without splices, when the node cannot be edited inside */
function editNode(work: EditContext, node: unknown, intended: unknown): boolean {
  const mark = work.splices.length;
  // An unchanged block value may contain aliases to restore.
  const isUnchanged = hasValue(work, node, intended) && !(work.restore && isBlock(node));
  const isDone = isUnchanged || editInside(work, node, intended);
  if (!isDone) work.splices.length = mark;
  setAnchor(work, node, intended);
  return isDone;
}

function editInside(work: EditContext, node: unknown, intended: unknown): boolean {
  const entries = entriesOf(work.text, node);
  const steps = entries === undefined ? undefined : stepsOf(work, node, entries, intended);
  if (entries === undefined || steps === undefined) return false;
  if (isBlock(node)) return editBlock(work, entries, steps, (entry, value) => editEntry(work, entry, value));
  const range = isCollection(node) ? node.range : undefined;
  if (!range) return false;
  return editFlow(work, range, entries, steps, (entry, value) => editFlowEntry(work, entry, value));
}

function stepsOf(
  work: EditContext,
  node: unknown,
  entries: readonly Entry[],
  intended: unknown,
): readonly ItemStep[] | undefined {
  if (isSeq(node)) {
    const old = entries.map((entry) => currentValue(work, entry.node));
    return isList(intended) ? listSteps(old, intended) : undefined;
  }
  if (!isMap(node) || !isRawObject(intended)) return undefined;
  const merged: Record<string, unknown> = {};
  for (const pair of node.items) if (isMergeKey(pair.key)) addMerged(merged, currentValue(work, pair.value));
  return mapSteps(
    entries.map(({ key }) => key),
    merged,
    intended,
  );
}

function editFlowEntry(work: EditContext, entry: Entry, value: unknown): boolean {
  if (hasValue(work, entry.node, value)) return true;
  return isEditableInside(work, entry, value) && editNode(work, entry.node, value);
}

function editEntry(work: EditContext, entry: Entry, value: unknown): void {
  const isSame = hasValue(work, entry.node, value);
  if (isSame && !work.restore) return;
  if (restoreLines(work, entry, (old) => !isSame && sameJson(old, value))) return;
  if (isSame) {
    editNode(work, entry.node, value);
    return;
  }
  const mark = work.splices.length;
  const isInside = isEditableInside(work, entry, value) && editNode(work, entry.node, value);
  if (!isInside) work.splices.push(replacement(work, entry, value));
  setAnchor(work, entry.node, value);
  // In block style each key below preserves its own lines.
  if (!isInside || !isBlock(entry.node)) preserveLines(work, entry, mark);
}

/** Values without common keys are replaced, which reads better. */
function isEditableInside(work: EditContext, { key, node }: Entry, intended: unknown): boolean {
  // An edit inside a hook would mix the author's handler with the injected one.
  if (key === "preStop") return false;
  const old = currentValue(work, node);
  if (!isRawObject(old) || !isRawObject(intended)) return isList(old) && isList(intended);
  const keys = Object.keys(old);
  const isEmptied = Object.keys(intended).length === 0 || keys.length === 0;
  return isEmptied || keys.some((name) => Object.hasOwn(intended, name));
}

function preserveLines(work: EditContext, { start, end }: Entry, mark: number): void {
  const { text } = work;
  if (!work.preserve || !startsItsLine(text, start)) return;
  // Lines below preserved ones are injected and need not be restored.
  if (readPreservedLines(text, start) !== undefined) return;
  const from = lineStart(text, start);
  const old = text.slice(from, lineEnd(text, end));
  const moved = work.splices.slice(mark).map((s) => ({ ...s, start: s.start - from, end: s.end - from }));
  if (isReversible(work, old, applySplices(old, moved))) return;
  const comment = preservedLines(text.slice(from, end), columnOf(text, start), eolAt(text, start, work.style.eol));
  if (comment !== undefined) work.splices.splice(mark, 0, { start: from, end: from, insert: comment });
}

function isReversible({ style }: EditContext, old: string, changed: string | undefined): boolean {
  if (changed === undefined) return false;
  const [before] = parseManifest(old).documents;
  const [after] = parseManifest(changed).documents;
  if (before === undefined || after === undefined) return false;
  const back = rewriteDocument(changed, after, before.value, { restore: false, preserve: false, style });
  return applySplices(changed, back) === old;
}

function restoreLines(work: EditContext, { key, start, end }: Entry, isWanted: (value: unknown) => boolean): boolean {
  if (!work.restore || !startsItsLine(work.text, start)) return false;
  const preserved = readPreservedLines(work.text, start);
  if (preserved === undefined) return false;
  const { documents } = parseManifest(preserved.lines);
  const value = documents[0]?.value;
  const old = key === undefined ? isList(value) && value[0] : isRawObject(value) && value[key];
  // Lines with an alias cannot be evaluated alone; the final comparison verifies them.
  const isRestored = documents.length === 0 ? preserved.lines.includes("*") : isWanted(old);
  if (isRestored) work.splices.push({ start: preserved.start, end, insert: preserved.lines });
  return isRestored;
}

function currentValue(work: EditContext, node: unknown): unknown {
  return readNode(node, new Map(work.anchors)).value;
}

/** Whether the node has the value after the edits so far. If so, sets its anchors. */
function hasValue(work: EditContext, node: unknown, value: unknown): boolean {
  const anchors: Anchors = new Map(work.anchors);
  if (!sameJson(readNode(node, anchors).value, value)) return false;
  for (const [name, anchored] of anchors) work.anchors.set(name, anchored);
  return true;
}

function setAnchor(work: EditContext, node: unknown, value: unknown): void {
  if (isNode(node) && !isAlias(node) && node.anchor !== undefined) work.anchors.set(node.anchor, value);
}
