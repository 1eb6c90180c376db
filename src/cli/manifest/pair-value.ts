/** Changes the value behind a key in block style: inside where possible, else as a whole with the old lines kept. */
import { isAlias, isMap, isScalar, isSeq, type Pair } from "yaml";
import { isRawObject, sameJson } from "../../kubernetes/raw-json.ts";
import { keepLines, restoreLines } from "./kept-lines.ts";
import { columnOf, endOfColon, endOfNode, endOfPair, eolAt, keyStart, lineEnd, startsItsLine } from "./layout.ts";
import { isOneThing } from "./one-thing.ts";
import { isList } from "./plain-value.ts";
import { type Habits, renderAfterColon, renderScalar } from "./render.ts";
import { keyText } from "./scalar-value.ts";
import type { Splice } from "./splice.ts";
import { fits, isNode, meaningOf, noteAnchor, type Work } from "./work.ts";

export function rewritePair(work: Work, pair: Pair, value: unknown): void {
  const extent = { start: keyStart(pair), end: endOfPair(work.text, pair) };
  const asKept = (kept: unknown) => isRawObject(kept) && sameJson(kept[keyText(pair.key)], value);
  if (fits(work, pair.value, value)) {
    // An alias that had to be written out may say the same as before by now.
    if (work.restore === "all") restoreLines(work, extent, () => false);
    return;
  }
  if (restoreLines(work, extent, asKept)) return;
  const ownLine = startsItsLine(work.text, extent.start);
  const before = { splices: work.splices.length, lossy: work.lossy };
  work.lossy = false;
  const isEditable = !isOneThing(keyText(pair.key)) && sharesParts(work, pair.value, value);
  const inside = isEditable && work.rewrite(pair.value, value);
  if (inside && work.lossy && ownLine) work.splices.splice(before.splices, 0, ...keepLines(work, extent));
  work.lossy = before.lossy || (work.lossy && !ownLine);
  if (!inside) replaceValue(work, pair, value);
}

/** An edit inside keeps what both have in common; without anything in common a replacement reads better. */
function sharesParts(work: Work, node: unknown, intended: unknown): boolean {
  const old = meaningOf(work, node);
  if (!isRawObject(old) || !isRawObject(intended)) return (isList(old) && isList(intended)) || sameJson(old, intended);
  // Braces stay where they are, with something in them or not.
  if (isMap(node) && node.flow === true && Object.keys(intended).length === 0) return true;
  const keys = Object.keys(old);
  return keys.length === 0 || keys.some((key) => Object.hasOwn(intended, key));
}

function replaceValue(work: Work, pair: Pair, value: unknown): void {
  const node = pair.value;
  noteAnchor(work, node, value);
  const habits = { ...work.habits, eol: eolAt(work.text, lineEnd(work.text, keyStart(pair)), work.habits.eol) };
  const column = columnOf(work.text, keyStart(pair));
  if (endOfNode(work.text, node) < 0) {
    fillEmpty(work, endOfColon(pair), renderAfterColon(value, column, habits));
    return;
  }
  if (!isCanonical(work, pair, habits))
    work.splices.push(...keepLines(work, { start: keyStart(pair), end: endOfPair(work.text, pair) }));
  work.splices.push(replacement(work, pair, value, habits));
}

/** An empty value: new lines go below the key's line, behind a comment that may stand there. */
function fillEmpty(work: Work, colon: number, text: string): void {
  const at = text.startsWith(" ") ? colon : lineEnd(work.text, colon);
  work.splices.push({ start: at, end: at, insert: text });
}

/** Whether the value's text is what rendering its meaning gives, so that nothing needs to be kept. */
function isCanonical(work: Work, pair: Pair, habits: Habits): boolean {
  const node = pair.value;
  if (isAlias(node) || (isNode(node) && node.anchor !== undefined)) return false;
  const written = work.text.slice(endOfColon(pair), endOfPair(work.text, pair));
  return written === renderAfterColon(meaningOf(work, node), columnOf(work.text, keyStart(pair)), habits);
}

function replacement(work: Work, pair: Pair, value: unknown, habits: Habits): Splice {
  const node = pair.value;
  const colon = endOfColon(pair);
  const end = endOfPair(work.text, pair);
  const isCollection = isRawObject(value) || isList(value);
  if (isScalar(node) && !isCollection && value !== null && node.range) {
    return { start: node.range[0], end, insert: renderScalar(value, false) };
  }
  if (value === null && (isMap(node) || isSeq(node)) && node.flow !== true) {
    return { start: Math.min(lineEnd(work.text, colon), end), end, insert: "" };
  }
  return { start: colon, end, insert: renderAfterColon(value, columnOf(work.text, keyStart(pair)), habits) };
}
