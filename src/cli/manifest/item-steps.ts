/** Diffs a mapping or list with its intended value into kept, removed and inserted entries. */
import { isRawObject, isSameJson, type RawObject } from "../../kubernetes/raw-json.ts";

/** `at` is the index of the old entry; a new entry is inserted after the old entry, or at the start if `at` is -1. */
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
 * @param mergedValues entries that the merge keys add
 */
export function mappingSteps(
  keys: readonly (string | undefined)[],
  mergedValues: RawObject,
  intended: RawObject,
): readonly ItemStep[] {
  const lastIndexes = new Map(keys.map((key, index) => [key, index]));
  const steps: ItemStep[] = [];
  for (const [index, key] of keys.entries()) {
    if (key === undefined) continue;
    if (!Object.hasOwn(intended, key)) steps.push({ kind: "remove", at: index });
    else if (lastIndexes.get(key) === index) steps.push({ kind: "keep", at: index, value: intended[key] });
  }
  let insertAfter = keys.length - 1;
  for (const [key, value] of Object.entries(intended)) {
    const index = lastIndexes.get(key);
    if (index !== undefined) insertAfter = index;
    else if (!Object.hasOwn(mergedValues, key) || !isSameJson(mergedValues[key], value))
      steps.push({ kind: "insert", at: insertAfter, key, value });
  }
  return steps;
}

/** Matches items by name, such as containers, or by equality. All insertions and removals are adjacent. */
export function listSteps(old: readonly unknown[], intended: readonly unknown[]): readonly ItemStep[] {
  if (old.length === intended.length) return intended.map((value, at) => ({ kind: "keep", at, value }));
  const minLength = Math.min(old.length, intended.length);
  let headLength = 0;
  while (headLength < minLength && isSameItem(old[headLength], intended[headLength])) headLength += 1;
  let tailLength = 0;
  while (tailLength < minLength - headLength && isSameItem(old.at(-1 - tailLength), intended.at(-1 - tailLength)))
    tailLength += 1;
  const keepItem = (at: number, value: unknown): ItemStep => ({ kind: "keep", at, value });
  const intendedTail = intended.slice(intended.length - tailLength);
  return [
    ...intended.slice(0, headLength).map((value, at) => keepItem(at, value)),
    ...old
      .slice(headLength, old.length - tailLength)
      .map((_, at): ItemStep => ({ kind: "remove", at: headLength + at })),
    ...intended
      .slice(headLength, intended.length - tailLength)
      .map((value): ItemStep => ({ kind: "insert", at: headLength - 1, value })),
    ...intendedTail.map((value, at) => keepItem(old.length - tailLength + at, value)),
  ];
}

function isSameItem(old: unknown, intended: unknown): boolean {
  if (isRawObject(old) && isRawObject(intended) && typeof old["name"] === "string")
    return old["name"] === intended["name"];
  return isSameJson(old, intended);
}
