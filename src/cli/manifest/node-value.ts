/** Evaluates a syntax tree as kubectl does. */
import { isAlias, isMap, isNode, isScalar, isSeq, type Pair, type Scalar } from "yaml";
import { isRawObject } from "../../kubernetes/raw-json.ts";

/** Bounds the expansion of aliases ("billion laughs"); real manifests have far fewer values. */
const VALUE_LIMIT = 1_000_000;

type DuplicateKey = { readonly key: string; readonly offset: number };

type NodeReading = {
  readonly value: unknown;
  readonly duplicates: readonly DuplicateKey[];
};

export type Anchors = Map<string, unknown>;

/** @throws Unreadable for aliases that exceed {@link VALUE_LIMIT} values or have no anchor */
export function readNode(root: unknown, anchors: Anchors = new Map()): NodeReading {
  const reader = new NodeReader(anchors);
  return { value: reader.read(root), duplicates: reader.duplicates };
}

/** `<<: *base` merges the keys of another mapping, which the mapping's own keys override. */
export function isMergeKey(key: unknown): boolean {
  return isScalar(key) && key.type === "PLAIN" && key.source === "<<";
}

class NodeReader {
  readonly duplicates: DuplicateKey[] = [];
  private readonly anchors: Anchors;
  private readonly sizes = new Map<string, number>();
  private size = 0;

  constructor(anchors: Anchors) {
    this.anchors = anchors;
  }

  read(node: unknown): unknown {
    const sizeBefore = this.size;
    const value = this.readWithoutAnchor(node);
    this.size += 1;
    if (this.size > VALUE_LIMIT)
      throw new Unreadable(
        `the document has more than ${VALUE_LIMIT} values after its aliases (*name) are expanded, and lastcall reads at most that many; remove nested aliases, or split the document`,
      );
    if (isNode(node) && !isAlias(node) && node.anchor !== undefined) {
      this.anchors.set(node.anchor, value);
      this.sizes.set(node.anchor, this.size - sizeBefore);
    }
    return value;
  }

  private readWithoutAnchor(node: unknown): unknown {
    if (isAlias(node)) {
      if (!this.anchors.has(node.source))
        throw new Unreadable(
          `the alias *${node.source} refers to an anchor that is not defined before it; define the anchor first`,
        );
      this.size += this.sizes.get(node.source) ?? 1;
      return this.anchors.get(node.source);
    }
    if (isMap(node)) return this.readMap(node.items as Pair[]);
    if (isSeq(node)) return node.items.map((item) => this.read(item));
    return isScalar(node) ? scalarValue(node) : null;
  }

  private readMap(pairs: readonly Pair[]): unknown {
    const ownValues: Record<string, unknown> = {};
    const mergedValues: Record<string, unknown> = {};
    for (const pair of pairs) {
      const value = this.read(pair.value);
      if (isMergeKey(pair.key)) addMerged(mergedValues, value);
      else this.readPair(ownValues, pair.key, value);
    }
    for (const [key, value] of Object.entries(mergedValues))
      if (!Object.hasOwn(ownValues, key)) setKey(ownValues, key, value);
    return ownValues;
  }

  private readPair(ownValues: Record<string, unknown>, key: unknown, value: unknown): void {
    if (!isScalar(key) || key.value === null)
      throw new Unreadable("a mapping has a key that is not a string, number or boolean; quote the key");
    const text = keyText(key);
    if (Object.hasOwn(ownValues, text)) this.duplicates.push({ key: text, offset: key.range?.[0] ?? 0 });
    setKey(ownValues, text, value);
  }
}

export function addMerged(mergedValues: Record<string, unknown>, source: unknown): void {
  const maps = isList(source) ? source : [source];
  if (!maps.every(isRawObject))
    throw new Unreadable(
      "the merge key << has a value that is neither a mapping nor a list of mappings; set it to an alias of a mapping, such as *base",
    );
  for (const [key, value] of maps.flatMap((map) => Object.entries(map)))
    if (!Object.hasOwn(mergedValues, key)) setKey(mergedValues, key, value);
}

/** Thrown for values that kubectl also refuses, and values that are too large. */
export class Unreadable extends Error {}

/** A key as kubectl converts it to a string: `yes` is "true", and `0644` is "420". */
export function keyText(key: unknown): string {
  if (!isScalar(key)) return "";
  if (typeof key.value === "number") return numberKey(key.value, key.source ?? "");
  return typeof key.value === "boolean" || typeof key.value === "string"
    ? String(key.value)
    : (key.source ?? String(key.value));
}

/** Formats floats as Go does: `1e+06`, where JavaScript writes `1000000`. Go and JavaScript write integers in the same way. */
function numberKey(value: number, source: string): string {
  const isWhole = !/[.eE]/.test(source) || /^[-+]?0[xX]/.test(source);
  const magnitude = Math.abs(value);
  if (!Number.isFinite(value) || (isWhole && !Number.isSafeInteger(value))) return source;
  if (isWhole || value === 0 || (magnitude >= 1e-4 && magnitude < 1e6)) return String(value);
  return value.toExponential().replace(/e([-+])(\d)$/, "e$10$2");
}

function scalarValue({ value, source, tag }: Scalar): unknown {
  const sourceText = source ?? String(value);
  if (typeof value === "number") return numberValue(value, sourceText);
  if (typeof value !== "string") return typeof value === "boolean" || value === null ? value : sourceText;
  if (tag === "tag:yaml.org,2002:binary") return Buffer.from(value, "base64").toString();
  if (tag === "tag:yaml.org,2002:float" && Number.isFinite(Number(value))) return Number(value);
  return value;
}

/** A number outside the range of a double becomes a string, as in kubectl. */
function numberValue(value: number, sourceText: string): number | string {
  if (Number.isFinite(value)) return value;
  if (!/\d/.test(sourceText)) throw new Unreadable(`${sourceText} is not a JSON number; quote it to make it a string`);
  return sourceText;
}

export function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

/** Sets the key `__proto__` without changing the prototype. */
function setKey(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === "__proto__") {
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
  } else target[key] = value;
}
