/** Changes the value behind a key in block style: inside where possible, else as a whole with the old lines kept. */
import { isAlias, isMap, isScalar, isSeq, type Pair } from "yaml";
import { isRawObject, sameJson } from "../../kubernetes/raw-json.ts";
import { readKeepsake, writeKeepsake } from "./keepsake.ts";
import {
  columnOf,
  endOfColon,
  endOfNode,
  endOfPair,
  eolAt,
  keyStart,
  lineEnd,
  lineStart,
  startsItsLine,
} from "./layout.ts";
import { keyText } from "./node-value.ts";
import { parseManifest } from "./parse.ts";
import { isList } from "./plain-value.ts";
import { type Habits, renderAfterColon, renderScalar } from "./render.ts";
import type { Splice } from "./splice.ts";
import { fits, isNode, meaningOf, noteAnchor, type Work } from "./work.ts";

export function rewritePair(work: Work, pair: Pair, value: unknown): void {
  if (fits(work, pair.value, value)) return;
  const ownLine = startsItsLine(work.text, keyStart(pair));
  if (ownLine && restoreKept(work, pair, value)) return;
  const before = { splices: work.splices.length, lossy: work.lossy };
  work.lossy = false;
  const inside = sharesParts(work, pair.value, value) && work.rewrite(pair.value, value);
  if (inside && work.lossy && ownLine) work.splices.splice(before.splices, 0, ...keepLines(work, pair));
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
  if (!isCanonical(work, pair, habits)) work.splices.push(...keepLines(work, pair));
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

function keepLines(work: Work, pair: Pair): Splice[] {
  if (!startsItsLine(work.text, keyStart(pair))) return [];
  const start = lineStart(work.text, keyStart(pair));
  // Lines kept earlier are the author's own; ours of the last pass need no memory.
  if (readKeepsake(work.text, start) !== undefined) return [];
  const eol = eolAt(work.text, lineEnd(work.text, start), work.habits.eol);
  const column = columnOf(work.text, keyStart(pair));
  const comment = writeKeepsake(work.text.slice(start, endOfPair(work.text, pair)), column, eol);
  return comment === undefined ? [] : [{ start, end: start, insert: comment }];
}

function restoreKept(work: Work, pair: Pair, value: unknown): boolean {
  if (!work.restoreKept) return false;
  const start = lineStart(work.text, keyStart(pair));
  const kept = readKeepsake(work.text, start);
  if (kept === undefined || !keptMeans(kept.lines, keyText(pair.key), value)) return false;
  work.splices.push({ start: kept.start, end: endOfPair(work.text, pair), insert: kept.lines });
  return true;
}

/** Lines with an alias mean nothing alone; the comparison after all edits decides about them. */
function keptMeans(lines: string, key: string, value: unknown): boolean {
  const [document] = parseManifest(lines).documents;
  if (document === undefined) return /[*]/.test(lines);
  return isRawObject(document.value) && sameJson(document.value[key], value);
}
