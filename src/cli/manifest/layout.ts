/** Where things lie in a text: lines, and the ends of what is written. */
import { isAlias, isMap, isPair, isScalar, isSeq, type Pair, type YAMLSeq } from "yaml";

export function lineStart(text: string, offset: number): number {
  return text.lastIndexOf("\n", offset - 1) + 1;
}

/** Offset of the line's end, before its CR or LF. */
export function lineEnd(text: string, offset: number): number {
  const feed = text.indexOf("\n", offset);
  const end = feed < 0 ? text.length : feed;
  return end > offset && text[end - 1] === "\r" ? end - 1 : end;
}

/** Offset of the next line's first character. */
export function lineAfter(text: string, offset: number): number {
  const feed = text.indexOf("\n", offset);
  return feed < 0 ? text.length : feed + 1;
}

/** The line ending at `offset` (a {@link lineEnd}), or `fallback` at the end of the text. */
export function eolAt(text: string, offset: number, fallback: string): string {
  if (text.startsWith("\r\n", offset)) return "\r\n";
  return text[offset] === "\n" ? "\n" : fallback;
}

export function startsItsLine(text: string, offset: number): boolean {
  return /^ *$/.test(text.slice(lineStart(text, offset), offset));
}

export function columnOf(text: string, offset: number): number {
  return offset - lineStart(text, offset);
}

/** First character of a pair's key. Keys with an anchor or tag of their own are not edited, so this suffices. */
export function keyStart(pair: Pair): number {
  const key = pair.key;
  return isScalar(key) || isAlias(key) || isMap(key) || isSeq(key) ? (key.range?.[0] ?? -1) : -1;
}

type Token = { readonly type: string; readonly offset: number; readonly source: string };

/** Marks that belong to an empty value: without them `key: &a` would end before its anchor. */
const MARKS = ["map-value-ind", "seq-item-ind", "anchor", "tag"];

function endOfMarks(tokens: readonly Token[] | undefined, fallback: number): number {
  let end = fallback;
  for (const token of tokens ?? []) if (MARKS.includes(token.type)) end = token.offset + token.source.length;
  return end;
}

/** End of what a pair says; comments and blank lines behind it are not part of it. */
export function endOfPair(text: string, pair: Pair): number {
  return Math.max(endOfNode(text, pair.value), endOfColon(pair));
}

/** Right behind the colon and the anchor or tag after it. */
export function endOfColon(pair: Pair): number {
  const key = pair.key;
  const keyEnd = isScalar(key) ? (key.range?.[1] ?? -1) : -1;
  return endOfMarks(sepOf(pair), keyEnd);
}

function sepOf(pair: Pair): readonly Token[] | undefined {
  return pair.srcToken?.sep as readonly Token[] | undefined;
}

export function dashOf(list: YAMLSeq, index: number): number {
  return startTokens(list, index)?.find((token) => token.type === "seq-item-ind")?.offset ?? -1;
}

function startTokens(list: YAMLSeq, index: number): readonly Token[] | undefined {
  const source = list.srcToken;
  if (source === undefined || source.type !== "block-seq") return undefined;
  return source.items[index]?.start as readonly Token[] | undefined;
}

export function endOfItem(text: string, list: YAMLSeq, index: number): number {
  const own = endOfNode(text, list.items[index]);
  return Math.max(own, endOfMarks(startTokens(list, index), -1));
}

/** -1 for what has no text of its own. */
export function endOfNode(text: string, node: unknown): number {
  if (isPair(node)) return endOfPair(text, node);
  if (isMap(node) && node.flow !== true) return endOfNode(text, node.items.at(-1));
  if (isSeq(node) && node.flow !== true) return endOfItem(text, node, node.items.length - 1);
  const range = isMap(node) || isSeq(node) || isScalar(node) || isAlias(node) ? node.range : undefined;
  if (!range || range[0] === range[1]) return -1;
  const isBlock = isScalar(node) && (node.type === "BLOCK_LITERAL" || node.type === "BLOCK_FOLDED");
  return isBlock ? endOfBlockScalar(text, range[0], range[1]) : range[1];
}

/** With `+` the blank lines behind are part of the value; otherwise they belong to no value. */
function endOfBlockScalar(text: string, start: number, end: number): number {
  const source = text.slice(start, end);
  const keep = /^[|>][0-9]*\+/.test(source);
  return start + (keep ? source.replace(/\r?\n$/, "") : source.trimEnd()).length;
}
