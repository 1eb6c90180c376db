/** Changes the text of a document to mean another value, by the fewest changes; all other bytes stay. */
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
  /** True for `uninject`: preserved lines are restored. */
  readonly restore: boolean;
  /** Whether replaced lines are preserved. */
  readonly keep: boolean;
  readonly style?: YamlStyle;
};

type Work = Required<Options> & {
  readonly text: string;
  /** The value of each anchor: at first as read, then as edited. */
  readonly anchors: Anchors;
  readonly splices: Splice[];
};

/** @returns splices that should make the document equal `intended`; the caller parses again and compares */
export function rewriteDocument(
  text: string,
  document: ParsedDocument,
  intended: unknown,
  options: Options,
): readonly Splice[] {
  const root = document.tree.contents;
  const anchors: Anchors = new Map();
  readNode(root, anchors);
  const work: Work = { text, anchors, splices: [], style: styleOf(text, root), ...options };
  editNode(work, root, intended);
  return work.splices;
}

/** @returns false when the node cannot be edited inside; the text is unchanged then */
function editNode(work: Work, node: unknown, intended: unknown): boolean {
  const mark = work.splices.length;
  // In block style a value without changes may still hold aliases to restore.
  const isUnchanged = means(work, node, intended) && !(work.restore && isBlock(node));
  const isDone = isUnchanged || editInside(work, node, intended);
  if (!isDone) work.splices.length = mark;
  setAnchor(work, node, intended);
  return isDone;
}

function editInside(work: Work, node: unknown, intended: unknown): boolean {
  const entries = entriesOf(work.text, node);
  const steps = entries === undefined ? undefined : stepsOf(work, node, entries, intended);
  if (entries === undefined || steps === undefined) return false;
  if (isBlock(node)) return editBlock(work, entries, steps, (entry, value) => editEntry(work, entry, value));
  const range = isCollection(node) ? node.range : undefined;
  if (!range) return false;
  return editFlow(work, range, entries, steps, (entry, value) => editFlowEntry(work, entry, value));
}

function stepsOf(
  work: Work,
  node: unknown,
  entries: readonly Entry[],
  intended: unknown,
): readonly ItemStep[] | undefined {
  if (isSeq(node)) {
    const old = entries.map((entry) => meaningOf(work, entry.node));
    return isList(intended) ? listSteps(old, intended) : undefined;
  }
  if (!isMap(node) || !isRawObject(intended)) return undefined;
  const merged: Record<string, unknown> = {};
  for (const pair of node.items) if (isMergeKey(pair.key)) addMerged(merged, meaningOf(work, pair.value));
  return mapSteps(
    entries.map(({ key }) => key),
    merged,
    intended,
  );
}

function editFlowEntry(work: Work, entry: Entry, value: unknown): boolean {
  if (means(work, entry.node, value)) return true;
  return isEditableInside(work, entry, value) && editNode(work, entry.node, value);
}

/** Edits the value inside where possible, or else replaces it as a whole. */
function editEntry(work: Work, entry: Entry, value: unknown): void {
  const isSame = means(work, entry.node, value);
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

/** An edit inside keeps what both values have in common; without anything in common a replacement reads better. */
function isEditableInside(work: Work, { key, node }: Entry, intended: unknown): boolean {
  // An edit inside a hook would mix the author's handler with the injected one.
  if (key === "preStop") return false;
  const old = meaningOf(work, node);
  if (!isRawObject(old) || !isRawObject(intended)) return isList(old) && isList(intended);
  const keys = Object.keys(old);
  const isEmptied = Object.keys(intended).length === 0 || keys.length === 0;
  return isEmptied || keys.some((name) => Object.hasOwn(intended, name));
}

/** Preserves the entry's lines, unless `uninject` can write them again as they were. */
function preserveLines(work: Work, { start, end }: Entry, mark: number): void {
  const { text } = work;
  if (!work.keep || !startsItsLine(text, start)) return;
  // Lines below preserved ones are injected, so nothing needs them back.
  if (readPreservedLines(text, start) !== undefined) return;
  const from = lineStart(text, start);
  const old = text.slice(from, lineEnd(text, end));
  const moved = work.splices.slice(mark).map((s) => ({ ...s, start: s.start - from, end: s.end - from }));
  if (isReversible(work, old, applySplices(old, moved))) return;
  const comment = preservedLines(text.slice(from, end), columnOf(text, start), eolAt(text, start, work.style.eol));
  if (comment !== undefined) work.splices.splice(mark, 0, { start: from, end: from, insert: comment });
}

function isReversible({ style }: Work, old: string, changed: string | undefined): boolean {
  if (changed === undefined) return false;
  const [before] = parseManifest(old).documents;
  const [after] = parseManifest(changed).documents;
  if (before === undefined || after === undefined) return false;
  const back = rewriteDocument(changed, after, before.value, { restore: false, keep: false, style });
  return applySplices(changed, back) === old;
}

/** @returns whether preserved lines stand above the entry, have the wanted value, and were restored */
function restoreLines(work: Work, { key, start, end }: Entry, isWanted: (value: unknown) => boolean): boolean {
  if (!work.restore || !startsItsLine(work.text, start)) return false;
  const preserved = readPreservedLines(work.text, start);
  if (preserved === undefined) return false;
  const { documents } = parseManifest(preserved.lines);
  const value = documents[0]?.value;
  const old = key === undefined ? isList(value) && value[0] : isRawObject(value) && value[key];
  // Lines with an alias have no value of their own; the comparison after all edits decides about them.
  const isRestored = documents.length === 0 ? preserved.lines.includes("*") : isWanted(old);
  if (isRestored) work.splices.push({ start: preserved.start, end, insert: preserved.lines });
  return isRestored;
}

function meaningOf(work: Work, node: unknown): unknown {
  return readNode(node, new Map(work.anchors)).value;
}

/** Whether the node has the value after the edits so far; its anchors are set then. */
function means(work: Work, node: unknown, value: unknown): boolean {
  const anchors: Anchors = new Map(work.anchors);
  if (!sameJson(readNode(node, anchors).value, value)) return false;
  for (const [name, anchored] of anchors) work.anchors.set(name, anchored);
  return true;
}

function setAnchor(work: Work, node: unknown, value: unknown): void {
  if (isNode(node) && !isAlias(node) && node.anchor !== undefined) work.anchors.set(node.anchor, value);
}
