/** Locates the keys, items and values of a collection in the text. */
import { isAlias, isCollection, isMap, isNode, isPair, isScalar, isSeq, type Pair, type YAMLSeq } from "yaml";
import { isMergeKey, keyText } from "./node-value.ts";

/** A pair of a mapping, or an item of a list, without the comments and blank lines that follow. */
export type Entry = {
  readonly key: string | undefined;
  readonly node: unknown;
  /** Offset of the first character of the key or, in block style, of the dash. */
  readonly start: number;
  /** In block style, offset of the end of the colon or dash, or of the anchor or tag that follows. In flow style, start of the value. */
  readonly valueStart: number;
  readonly end: number;
};

export function isBlock(node: unknown): boolean {
  return isCollection(node) && node.flow !== true;
}

/** @returns `undefined` for scalars, aliases, and flow collections that cannot be edited inside. */
export function entriesOf(text: string, node: unknown): readonly Entry[] | undefined {
  if (!isMap(node) && !isSeq(node)) return undefined;
  const entries = isMap(node)
    ? (node.items as Pair[]).map((pair) => pairEntry(text, pair))
    : node.items.map((_, index) => itemEntry(text, node, index));
  if (isBlock(node)) return entries;
  if (isMap(node) && entries.some(({ key, start }) => key === undefined || start < 0)) return undefined;
  const flowEntries = entries.flatMap((entry) => flowEntry(entry, isMap(node)));
  return flowEntries.length === entries.length ? flowEntries : undefined;
}

function pairEntry(text: string, pair: Pair): Entry {
  const { key, value } = pair;
  const keyEnd = isScalar(key) ? (key.range?.[1] ?? -1) : -1;
  const valueStart = endOfIndicators(pair.srcToken?.sep as readonly Token[] | undefined, keyEnd);
  const end = Math.max(endOfNode(text, value), valueStart);
  return { key: isMergeKey(key) ? undefined : keyText(key), node: value, start: keyStart(pair), valueStart, end };
}

function itemEntry(text: string, list: YAMLSeq, index: number): Entry {
  const node = list.items[index];
  const listToken = list.srcToken?.type === "block-seq" ? list.srcToken : undefined;
  const tokens = listToken?.items[index]?.start as readonly Token[] | undefined;
  const start = tokens?.find((token) => token.type === "seq-item-ind")?.offset ?? -1;
  const valueStart = endOfIndicators(tokens, -1);
  return { key: undefined, node, start, valueStart, end: Math.max(endOfNode(text, node), valueStart) };
}

/** Anchors and tags stand in front of a value's range, so an edit of the range would move them to another value. */
function flowEntry(entry: Entry, isPairEntry: boolean): readonly Entry[] {
  const { node } = entry;
  if (!isNode(node) || isAlias(node)) return [];
  const { range, anchor, tag } = node;
  if (!range || range[0] === range[1] || anchor !== undefined || tag?.startsWith("!") === true) return [];
  return [{ ...entry, start: isPairEntry ? entry.start : range[0], valueStart: range[0], end: range[1] }];
}

/** Ignores anchors and tags of keys, because such keys are never edited. */
function keyStart({ key }: Pair): number {
  return isNode(key) ? (key.range?.[0] ?? -1) : -1;
}

type Token = { readonly type: string; readonly offset: number; readonly source: string };

/** Tokens before a value. They are part of an empty value; otherwise the entry `key: &a` would end before its anchor. */
const INDICATORS = ["map-value-ind", "seq-item-ind", "anchor", "tag"];

function endOfIndicators(tokens: readonly Token[] | undefined, fallback: number): number {
  const indicator = tokens?.findLast((token) => INDICATORS.includes(token.type));
  return indicator === undefined ? fallback : indicator.offset + indicator.source.length;
}

function endOfNode(text: string, node: unknown): number {
  if (isPair(node)) return pairEntry(text, node).end;
  if (isBlock(node) && isMap(node)) return endOfNode(text, node.items.at(-1));
  if (isBlock(node) && isSeq(node)) return itemEntry(text, node, node.items.length - 1).end;
  const range = isNode(node) ? node.range : undefined;
  if (!range || range[0] === range[1]) return -1;
  if (!isScalar(node) || !node.type?.startsWith("BLOCK_")) return range[1];
  // Trailing blank lines belong to a block scalar only with the chomping indicator `+`.
  const source = text.slice(range[0], range[1]);
  return range[0] + (/^[|>][0-9]*\+/.test(source) ? source.replace(/\r?\n$/, "") : source.trimEnd()).length;
}
