/**
 * Makes a document mean something else by the fewest changes to its text: whole new lines in block style, insertions
 * behind the neighbour in flow style and JSON, single values in place. What is not changed keeps every byte.
 */
import { isAlias, isMap, isSeq } from "yaml";
import { isRawObject, sameJson } from "../../kubernetes/raw-json.ts";
import { rewriteBlockList } from "./block-list.ts";
import { rewriteBlockMap } from "./block-map.ts";
import { rewriteFlow } from "./flow-edit.ts";
import { habitsOf } from "./habits.ts";
import type { ParsedDocument } from "./parse.ts";
import { isList } from "./plain-value.ts";
import type { Splice } from "./splice.ts";
import { fits, meaningOf, noteAnchor, noteAnchorsIn, type Restore, type Work } from "./work.ts";

/** @returns the splices that should make the document equal `intended`. The caller parses again and compares. */
export function rewriteDocument(
  text: string,
  document: ParsedDocument,
  intended: unknown,
  options: { readonly restore: Restore; readonly keep: boolean },
): readonly Splice[] {
  const work: Work = {
    text,
    habits: habitsOf(text, document.tree.contents),
    values: document.values,
    anchors: new Map(document.anchors),
    hasAliases: [...document.values.keys()].some(isAlias),
    restore: options.restore,
    keep: options.keep,
    splices: [],
    lossy: false,
    rewrite: (node, value) => rewriteNode(work, node, value),
  };
  rewriteNode(work, document.tree.contents, intended);
  return work.splices;
}

function rewriteNode(work: Work, node: unknown, intended: unknown): boolean {
  const mark = work.splices.length;
  const done = rewriteInside(work, node, intended);
  if (!done) work.splices.length = mark;
  noteAnchor(work, node, intended);
  return done;
}

function rewriteInside(work: Work, node: unknown, intended: unknown): boolean {
  if (fits(work, node, intended)) return true;
  if (isAlias(node)) return sameJson(work.anchors.get(node.source), intended);
  if (isMap(node) && node.flow !== true) return isRawObject(intended) && rewriteBlockMap(work, node, intended);
  if (isSeq(node) && node.flow !== true) return isList(intended) && rewriteBlockList(work, node, intended);
  return rewriteInline(work, node, intended);
}

/** Scalars and everything in braces and brackets. */
function rewriteInline(work: Work, node: unknown, intended: unknown): boolean {
  if (sameJson(meaningOf(work, node), intended)) {
    noteAnchorsIn(work, node);
    return true;
  }
  const flow = { text: work.text, habits: work.habits, meaning: (at: unknown) => meaningOf(work, at) };
  const edit = rewriteFlow(flow, node, intended);
  if (edit === undefined) return false;
  work.splices.push(...edit.splices);
  if (edit.lossy) work.lossy = true;
  return true;
}
