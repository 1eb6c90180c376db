/** Edits inside braces and brackets: YAML flow style and JSON. */
import { isMap, isScalar, isSeq, type Pair } from "yaml";
import { isRawObject, type RawObject, sameJson } from "../../kubernetes/raw-json.ts";
import { alignItems, type ItemStep } from "./align.ts";
import { keyStart, lineStart } from "./layout.ts";
import { isMergeKey } from "./node-value.ts";
import { isOneThing } from "./one-thing.ts";
import { isList } from "./plain-value.ts";
import { type Habits, renderFlow, renderFlowPair } from "./render.ts";
import { keyText } from "./scalar-value.ts";
import type { Splice } from "./splice.ts";

export type FlowWork = {
  readonly text: string;
  readonly habits: Habits;
  readonly meaning: (node: unknown) => unknown;
};

export type FlowEdit = {
  readonly splices: readonly Splice[];
  /** Text was replaced or removed that rendering could not write again in the same way. */
  readonly lossy: boolean;
};

type Range = { readonly start: number; readonly end: number };

/** @returns `undefined` when the node is not a flow collection that can be edited inside. */
export function rewriteFlow(work: FlowWork, node: unknown, intended: unknown): FlowEdit | undefined {
  const edit: Collected = { splices: [], lossy: false };
  return rewriteInto(work, edit, node, intended) ? edit : undefined;
}

type Collected = { splices: Splice[]; lossy: boolean };

function rewriteInto(work: FlowWork, edit: Collected, node: unknown, intended: unknown): boolean {
  if (sameJson(work.meaning(node), intended)) return true;
  if (isMap(node) && isRawObject(intended))
    return rewriteMap(work, edit, { pairs: node.items as Pair[], node, intended });
  if (isSeq(node) && isList(intended)) return rewriteList(work, edit, { items: node.items, node, intended });
  return false;
}

function rewritePair(work: FlowWork, edit: Collected, { key, value }: Pair, intended: unknown): boolean {
  const change = isOneThing(keyText(key)) ? replaceValue : rewriteValue;
  return change(work, edit, value, intended);
}

/** Changes the value in place, inside if possible, else as a whole. */
function rewriteValue(work: FlowWork, edit: Collected, node: unknown, intended: unknown): boolean {
  const mark = edit.splices.length;
  if (sharesKey(work.meaning(node), intended) && rewriteInto(work, edit, node, intended)) return true;
  edit.splices.length = mark;
  return replaceValue(work, edit, node, intended);
}

function replaceValue(work: FlowWork, edit: Collected, node: unknown, intended: unknown): boolean {
  if (sameJson(work.meaning(node), intended)) return true;
  const range = rangeOf(node);
  if (range === undefined) return false;
  const insert = renderFlow(intended, work.habits, indentAt(work, range.start));
  noteLoss(work, edit, range, node);
  edit.splices.push({ ...range, insert });
  return true;
}

function sharesKey(old: unknown, intended: unknown): boolean {
  if (isList(old) && isList(intended)) return true;
  return isRawObject(old) && isRawObject(intended) && Object.keys(old).some((key) => Object.hasOwn(intended, key));
}

function noteLoss(work: FlowWork, edit: Collected, range: Range, node: unknown): void {
  const again = renderFlow(work.meaning(node), work.habits, indentAt(work, range.start));
  if (again !== work.text.slice(range.start, range.end)) edit.lossy = true;
}

type Ranged = { readonly range?: [number, number, number] | null };

type MapEdit = {
  readonly pairs: readonly Pair[];
  readonly node: Ranged;
  readonly intended: RawObject;
};

function rewriteMap(work: FlowWork, edit: Collected, { pairs, node, intended }: MapEdit): boolean {
  const ranges: Range[] = [];
  for (const pair of pairs) {
    const value = rangeOf(pair.value);
    if (isMergeKey(pair.key) || value === undefined || keyStart(pair) < 0) return false;
    ranges.push({ start: keyStart(pair), end: value.end });
  }
  const steps: ItemStep[] = [];
  const last = new Map(pairs.map((pair, index) => [keyText(pair.key), index]));
  for (const [index, pair] of pairs.entries()) {
    const key = keyText(pair.key);
    if (!Object.hasOwn(intended, key)) steps.push({ kind: "remove", index });
    else if (last.get(key) === index && !rewritePair(work, edit, pair, intended[key])) return false;
  }
  // A new key goes behind the one it follows in the intended order, else behind all.
  let after = pairs.length - 1;
  for (const [key, value] of Object.entries(intended)) {
    const index = last.get(key);
    if (index !== undefined) after = index;
    else steps.push({ kind: "insert", after, value: [key, value] });
  }
  const render = (value: unknown, indent: string | undefined): string => {
    const [key, item] = isList(value) ? value : [];
    return renderFlowPair(String(key), item, work.habits, indent);
  };
  return place(work, edit, { node, ranges, steps, render });
}

type ListEdit = {
  readonly items: readonly unknown[];
  readonly node: Ranged;
  readonly intended: readonly unknown[];
};

function rewriteList(work: FlowWork, edit: Collected, { items, node, intended }: ListEdit): boolean {
  const ranges: Range[] = [];
  for (const range of items.map(rangeOf)) {
    if (range === undefined) return false;
    ranges.push(range);
  }
  const steps = alignItems(
    items.map((item) => work.meaning(item)),
    intended,
  );
  for (const step of steps) {
    if (step.kind === "keep" && !sameJson(work.meaning(items[step.index]), step.value)) {
      if (!rewriteValue(work, edit, items[step.index], step.value)) return false;
    }
  }
  const render = (value: unknown, indent: string | undefined): string => renderFlow(value, work.habits, indent);
  return place(work, edit, { node, ranges, steps, render });
}

type Placement = {
  readonly node: Ranged;
  readonly ranges: readonly Range[];
  readonly steps: readonly ItemStep[];
  readonly render: (value: unknown, indent: string | undefined) => string;
};

/** Removals take the comma before, or for the first the one behind: exactly what an insertion there has added. */
function place(work: FlowWork, edit: Collected, what: Placement): boolean {
  const removed = new Set(what.steps.flatMap((step) => (step.kind === "remove" ? [step.index] : [])));
  const inserts = what.steps.filter((step) => step.kind === "insert");
  if (removed.size > 0 && removed.size === what.ranges.length) return empty(edit, work, what) && inserts.length === 0;
  for (const index of removed) {
    const range = what.ranges[index];
    const before = what.ranges[index - 1];
    const next = what.ranges[index + 1];
    if (range === undefined) return false;
    const keptBefore = before !== undefined && [...what.ranges.keys()].some((at) => at < index && !removed.has(at));
    if (keptBefore && before !== undefined) edit.splices.push({ start: before.end, end: range.end, insert: "" });
    else if (next !== undefined) edit.splices.push({ start: range.start, end: next.start, insert: "" });
  }
  for (const step of inserts) insert(work, edit, what, step);
  return true;
}

function empty(edit: Collected, work: FlowWork, what: Placement): boolean {
  const range = what.node.range;
  const first = what.ranges[0];
  const last = what.ranges.at(-1);
  if (!range || first === undefined || last === undefined) return false;
  const overLines = work.text.slice(range[0], first.start).includes("\n");
  const end = overLines ? range[1] - 1 : last.end;
  edit.splices.push({ start: range[0] + 1, end, insert: "" });
  return true;
}

function insert(work: FlowWork, edit: Collected, what: Placement, step: { after: number; value: unknown }): void {
  const first = what.ranges[0];
  if (first === undefined) {
    const open = what.node.range?.[0] ?? 0;
    const outer = indentAt(work, open);
    const inner = outer === undefined ? undefined : outer + work.habits.jsonStep;
    const text = what.render(step.value, inner);
    const wrapped = inner === undefined ? text : work.habits.eol + inner + text + work.habits.eol + outer;
    const more = edit.splices.some((splice) => splice.start === open + 1);
    edit.splices.push({ start: open + 1, end: open + 1, insert: more ? `,${work.habits.gap}${text}` : wrapped });
    return;
  }
  const indent = ownIndent(work, first.start);
  const text = what.render(step.value, indent);
  const gap = indent === undefined ? work.habits.gap : work.habits.eol + indent;
  const after = what.ranges[step.after];
  if (after === undefined) edit.splices.push({ start: first.start, end: first.start, insert: `${text},${gap}` });
  else edit.splices.push({ start: after.end, end: after.end, insert: `,${gap}${text}` });
}

/** In JSON over several lines: the white space an item's line starts with, if the item starts the line. */
function ownIndent(work: FlowWork, offset: number): string | undefined {
  const before = work.text.slice(lineStart(work.text, offset), offset);
  return work.habits.json && offset > 0 && /^[ \t]*$/.test(before) ? before : undefined;
}

/** In JSON over several lines: the white space the line of `offset` starts with. */
function indentAt(work: FlowWork, offset: number): string | undefined {
  if (!work.habits.json || !/\n\s*\S/.test(work.text.trim())) return undefined;
  return /^[ \t]*/.exec(work.text.slice(lineStart(work.text, offset), offset))?.[0] ?? "";
}

function rangeOf(node: unknown): Range | undefined {
  if (!isMap(node) && !isSeq(node) && !isScalar(node)) return undefined;
  const range = node.range;
  if (!range || range[0] === range[1] || node.anchor !== undefined || node.tag?.startsWith("!") === true)
    return undefined;
  return { start: range[0], end: range[1] };
}
