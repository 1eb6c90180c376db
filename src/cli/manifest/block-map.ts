/** Edits of a mapping in block style. */
import type { Pair, YAMLMap } from "yaml";
import { type RawObject, sameJson } from "../../kubernetes/raw-json.ts";
import { insertLines, removeLines } from "./block-lines.ts";
import { readKeepsake } from "./keepsake.ts";
import { columnOf, endOfPair, keyStart, lineStart, startsItsLine } from "./layout.ts";
import { addMerged, isMergeKey } from "./node-value.ts";
import { rewritePair } from "./pair-value.ts";
import { renderPair } from "./render.ts";
import { keyText } from "./scalar-value.ts";
import { meaningOf, noteAnchorsIn, type Work } from "./work.ts";

/** @returns false when the mapping becomes empty: block style cannot say that. */
export function rewriteBlockMap(work: Work, node: YAMLMap, intended: RawObject): boolean {
  if (Object.keys(intended).length === 0) return false;
  const pairs = node.items as Pair[];
  // Of a key given twice the last one counts.
  const last = new Map(pairs.filter((pair) => !isMergeKey(pair.key)).map((pair) => [keyText(pair.key), pair]));
  const merged: Record<string, unknown> = {};
  for (const pair of pairs) {
    if (isMergeKey(pair.key)) addMerged(merged, meaningOf(work, pair.value));
    else if (!Object.hasOwn(intended, keyText(pair.key))) removePair(work, pairs, pair);
    else if (last.get(keyText(pair.key)) === pair) rewritePair(work, pair, intended[keyText(pair.key)]);
    else noteAnchorsIn(work, pair.value);
  }
  insertPairs(work, { pairs, last, merged, intended });
  return true;
}

type Insertions = {
  readonly pairs: readonly Pair[];
  readonly last: ReadonlyMap<string, Pair>;
  /** What the mapping has through `<<`. */
  readonly merged: RawObject;
  readonly intended: RawObject;
};

/** A new key goes behind the one it follows in the intended order, else behind all. */
function insertPairs(work: Work, { pairs, last, merged, intended }: Insertions): void {
  let before: Pair | undefined;
  for (const [key, value] of Object.entries(intended)) {
    const own = last.get(key);
    if (own !== undefined) before = own;
    else if (!Object.hasOwn(merged, key) || !sameJson(merged[key], value)) {
      insertPair(work, { pairs, after: before ?? pairs.at(-1), key, value });
    }
  }
}

function insertPair(
  work: Work,
  what: {
    readonly pairs: readonly Pair[];
    readonly after: Pair | undefined;
    readonly key: string;
    readonly value: unknown;
  },
): void {
  const first = what.pairs[0];
  if (what.after === undefined || first === undefined) return;
  const column = columnOf(work.text, keyStart(first));
  insertLines(work, endOfPair(work.text, what.after), (habits) => {
    return " ".repeat(column) + renderPair(what.key, what.value, column, habits);
  });
}

function removePair(work: Work, pairs: readonly Pair[], pair: Pair): void {
  const start = keyStart(pair);
  const next = pairs[pairs.indexOf(pair) + 1];
  if (startsItsLine(work.text, start)) {
    const kept = readKeepsake(work.text, lineStart(work.text, start));
    removeLines(work, kept?.start ?? start, endOfPair(work.text, pair));
  } else if (next !== undefined) work.splices.push({ start, end: keyStart(next), insert: "" });
}
