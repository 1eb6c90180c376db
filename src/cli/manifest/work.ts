/** What every part of one document's rewriting shares. */
import { isAlias, isMap, isScalar, isSeq, type Node } from "yaml";
import { sameJson } from "../../kubernetes/raw-json.ts";
import { type Anchors, readNode } from "./node-value.ts";
import type { Habits } from "./render.ts";
import type { Splice } from "./splice.ts";

/**
 * How far kept lines are put back: `all`: also aliases whose written-out value has not changed; `changed`: only where
 * the value changes; `nothing`. Each is a try; what does not mean the intended is not taken.
 */
export type Restore = "all" | "changed" | "nothing";

export type Work = {
  readonly text: string;
  readonly habits: Habits;
  readonly values: ReadonlyMap<Node, unknown>;
  /** What `&name` stands for: at first as read, then as the edits before have made it. */
  readonly anchors: Anchors;
  readonly hasAliases: boolean;
  readonly restore: Restore;
  /** Whether replaced lines are kept as a comment: when injecting, not when taking it back. */
  readonly keep: boolean;
  readonly splices: Splice[];
  /** A flow edit threw text away that cannot be written again exactly. */
  lossy: boolean;
  /** The way down: answers false when the node cannot be edited inside, and has spliced nothing then. */
  readonly rewrite: (node: unknown, intended: unknown) => boolean;
};

/** What a node means after the edits made so far; without aliases that is what it meant before. */
export function meaningOf(work: Work, node: unknown): unknown {
  if (!isNode(node)) return null;
  return work.hasAliases ? readNode(node, new Map(work.anchors)).value : work.values.get(node);
}

export function isNode(node: unknown): node is Node {
  return isMap(node) || isSeq(node) || isScalar(node) || isAlias(node);
}

/** Without aliases nothing depends on what stands elsewhere, so what already fits needs no visit. */
export function fits(work: Work, node: unknown, intended: unknown): boolean {
  return !work.hasAliases && sameJson(meaningOf(work, node), intended);
}

/** Notes what an anchored node stands for from now on. */
export function noteAnchor(work: Work, node: unknown, value: unknown): void {
  if (!work.hasAliases || !isNode(node) || isAlias(node) || node.anchor === undefined) return;
  work.anchors.set(node.anchor, value);
}

/** Notes the anchors of a part that stays as it is. */
export function noteAnchorsIn(work: Work, node: unknown): void {
  if (work.hasAliases && isNode(node)) readNode(node, work.anchors);
}
