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
export function listSteps(oldItems: readonly unknown[], intendedItems: readonly unknown[]): readonly ItemStep[] {
  if (oldItems.length === intendedItems.length) return intendedItems.map((value, at) => ({ kind: "keep", at, value }));
  const minLength = Math.min(oldItems.length, intendedItems.length);
  let headLength = 0;
  while (headLength < minLength && isSameItem(oldItems[headLength], intendedItems[headLength])) headLength += 1;
  let tailLength = 0;
  while (
    tailLength < minLength - headLength &&
    isSameItem(oldItems.at(-1 - tailLength), intendedItems.at(-1 - tailLength))
  )
    tailLength += 1;
  const keepItem = (at: number, value: unknown): ItemStep => ({ kind: "keep", at, value });
  const intendedTail = intendedItems.slice(intendedItems.length - tailLength);
  return [
    ...intendedItems.slice(0, headLength).map((value, at) => keepItem(at, value)),
    ...oldItems
      .slice(headLength, oldItems.length - tailLength)
      .map((_, at): ItemStep => ({ kind: "remove", at: headLength + at })),
    ...intendedItems
      .slice(headLength, intendedItems.length - tailLength)
      .map((value): ItemStep => ({ kind: "insert", at: headLength - 1, value })),
    ...intendedTail.map((value, at) => keepItem(oldItems.length - tailLength + at, value)),
  ];
}

function isSameItem(oldItem: unknown, intendedItem: unknown): boolean {
  if (isRawObject(oldItem) && isRawObject(intendedItem) && typeof oldItem["name"] === "string")
    return oldItem["name"] === intendedItem["name"];
  return isSameJson(oldItem, intendedItem);
}
