/** A syntax tree to plain data, with the value of every node remembered. */
import { isAlias, isMap, isScalar, isSeq, type Node, type Pair, type ParsedNode } from "yaml";
import { isRawObject } from "../../kubernetes/raw-json.ts";
import { isList, setKey } from "./plain-value.ts";
import { keyText, scalarValue, Unreadable } from "./scalar-value.ts";

/** Aliases let a few lines stand for billions of values; the real thing of a cluster stays far below this. */
export const VALUE_LIMIT = 1_000_000;

export type RepeatedKey = { readonly key: string; readonly offset: number };

export type NodeReading = {
  readonly value: unknown;
  readonly values: ReadonlyMap<Node, unknown>;
  readonly repeated: readonly RepeatedKey[];
  readonly anchors: ReadonlyMap<string, unknown>;
};

/** Values that `&name` stands for, in document order. */
export type Anchors = Map<string, unknown>;

/** @throws Unreadable when aliases expand beyond {@link VALUE_LIMIT} values or name no anchor. */
export function readNode(root: ParsedNode | Node | null, anchors: Anchors = new Map()): NodeReading {
  const reader = new Reader(anchors);
  const value = root === null ? null : reader.read(root).value;
  return { value, values: reader.values, repeated: reader.repeated, anchors };
}

/** `<<: *base`: the keys of another mapping, each yielding to a key of the mapping's own. */
export function isMergeKey(key: unknown): boolean {
  return isScalar(key) && key.type === "PLAIN" && key.source === "<<";
}

type Sized = { readonly value: unknown; readonly size: number };

class Reader {
  readonly values = new Map<Node, unknown>();
  readonly repeated: RepeatedKey[] = [];
  private readonly anchors: Anchors;
  private readonly sizes = new Map<string, number>();

  constructor(anchors: Anchors) {
    this.anchors = anchors;
  }

  read(node: unknown): Sized {
    const sized = this.readUnnamed(node);
    if (sized.size > VALUE_LIMIT)
      throw new Unreadable(`its aliases expand to more than ${VALUE_LIMIT} values; write the parts out`);
    if (isMap(node) || isSeq(node) || isScalar(node) || isAlias(node)) this.values.set(node, sized.value);
    if ((isMap(node) || isSeq(node) || isScalar(node)) && node.anchor !== undefined) {
      this.anchors.set(node.anchor, sized.value);
      this.sizes.set(node.anchor, sized.size);
    }
    return sized;
  }

  private readUnnamed(node: unknown): Sized {
    if (isAlias(node)) {
      if (!this.anchors.has(node.source)) throw new Unreadable(`the alias *${node.source} names no anchor before it`);
      return { value: this.anchors.get(node.source), size: this.sizes.get(node.source) ?? 1 };
    }
    if (isMap(node)) return this.readMap(node.items as Pair[]);
    if (isSeq(node)) return this.readList(node.items);
    return { value: isScalar(node) ? scalarValue(node) : null, size: 1 };
  }

  private readList(items: readonly unknown[]): Sized {
    let size = 1;
    const value = items.map((item) => {
      const sized = this.read(item);
      size += sized.size;
      return sized.value;
    });
    return { value, size };
  }

  private readMap(pairs: readonly Pair[]): Sized {
    const own: Record<string, unknown> = {};
    const merged: Record<string, unknown> = {};
    let size = 1;
    for (const pair of pairs) {
      const sized = this.read(pair.value);
      size += sized.size;
      if (isMergeKey(pair.key)) mergeInto(merged, sized.value);
      else this.readPair(own, pair.key, sized.value);
    }
    for (const [key, value] of Object.entries(merged)) if (!Object.hasOwn(own, key)) setKey(own, key, value);
    return { value: own, size };
  }

  private readPair(own: Record<string, unknown>, key: unknown, value: unknown): void {
    if (!isScalar(key) || key.value === null) throw new Unreadable("a key is no text, number or boolean");
    const text = keyText(key);
    if (Object.hasOwn(own, text)) this.repeated.push({ key: text, offset: key.range?.[0] ?? 0 });
    setKey(own, text, value);
  }
}

function mergeInto(merged: Record<string, unknown>, value: unknown): void {
  const isMergeable = isRawObject(value) || (isList(value) && value.every(isRawObject));
  if (!isMergeable) throw new Unreadable("<< needs a mapping, or a list of mappings");
  addMerged(merged, value);
}

/** In a list of mappings an earlier one wins. */
export function addMerged(merged: Record<string, unknown>, source: unknown): void {
  for (const map of isList(source) ? source : [source]) {
    if (!isRawObject(map)) continue;
    for (const [key, value] of Object.entries(map)) if (!Object.hasOwn(merged, key)) setKey(merged, key, value);
  }
}
