/** Diffs a mapping or list with its intended value into kept, removed and inserted entries. */
import { isRawObject, type RawObject, sameJson } from "../../kubernetes/raw-json.ts";

/** `at` is the index of the old entry; a new entry is inserted after it, or first for -1. */
export type ItemStep =
  | { readonly kind: "keep"; readonly at: number; readonly value: unknown }
  | { readonly kind: "remove"; readonly at: number }
  | Insert;

export type Insert = {
  readonly kind: "insert";
  readonly at: number;
  readonly key?: string;
  readonly value: unknown;
};

/**
 * A new key is inserted after the key that it follows in the intended order, otherwise last.
 *
 * @param keys `undefined` stands for a merge key
 * @param merged what the merge keys add
 */
export function mapSteps(
  keys: readonly (string | undefined)[],
  merged: RawObject,
  intended: RawObject,
): readonly ItemStep[] {
  const last = new Map(keys.map((key, index) => [key, index]));
  const steps: ItemStep[] = [];
  for (const [index, key] of keys.entries()) {
    if (key === undefined) continue;
    if (!Object.hasOwn(intended, key)) steps.push({ kind: "remove", at: index });
    else if (last.get(key) === index) steps.push({ kind: "keep", at: index, value: intended[key] });
  }
  let after = keys.length - 1;
  for (const [key, value] of Object.entries(intended)) {
    const index = last.get(key);
    if (index !== undefined) after = index;
    else if (!Object.hasOwn(merged, key) || !sameJson(merged[key], value))
      steps.push({ kind: "insert", at: after, key, value });
  }
  return steps;
}

/** Matches items by name, such as containers, or by equality. All insertions and removals are at one place. */
export function listSteps(old: readonly unknown[], intended: readonly unknown[]): readonly ItemStep[] {
  if (old.length === intended.length) return intended.map((value, at) => ({ kind: "keep", at, value }));
  const shorter = Math.min(old.length, intended.length);
  let head = 0;
  while (head < shorter && isSameItem(old[head], intended[head])) head += 1;
  let tail = 0;
  while (tail < shorter - head && isSameItem(old.at(-1 - tail), intended.at(-1 - tail))) tail += 1;
  const keep = (at: number, value: unknown): ItemStep => ({ kind: "keep", at, value });
  const intendedTail = intended.slice(intended.length - tail);
  return [
    ...intended.slice(0, head).map((value, at) => keep(at, value)),
    ...old.slice(head, old.length - tail).map((_, at): ItemStep => ({ kind: "remove", at: head + at })),
    ...intended.slice(head, intended.length - tail).map((value): ItemStep => ({ kind: "insert", at: head - 1, value })),
    ...intendedTail.map((value, at) => keep(old.length - tail + at, value)),
  ];
}

function isSameItem(old: unknown, intended: unknown): boolean {
  if (isRawObject(old) && isRawObject(intended) && typeof old["name"] === "string")
    return old["name"] === intended["name"];
  return sameJson(old, intended);
}
