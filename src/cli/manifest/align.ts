/** Which items of a list stayed, came and went. */
import { isRawObject, sameJson } from "../../kubernetes/raw-json.ts";

export type ItemStep =
  /** The same item, perhaps with another value. */
  | { readonly kind: "keep"; readonly index: number; readonly value: unknown }
  | { readonly kind: "remove"; readonly index: number }
  /** A new item behind the old item `after`; -1 means in front of all. */
  | { readonly kind: "insert"; readonly after: number; readonly value: unknown };

/** Items keep their identity by name, as containers do, else by being equal. Insertions and removals touch one place. */
export function alignItems(old: readonly unknown[], intended: readonly unknown[]): readonly ItemStep[] {
  const shorter = Math.min(old.length, intended.length);
  let head = 0;
  while (head < shorter && sameItem(old[head], intended[head])) head += 1;
  let tail = 0;
  while (tail < shorter - head && sameItem(old[old.length - 1 - tail], intended[intended.length - 1 - tail])) tail += 1;
  const steps: ItemStep[] = [];
  for (let at = 0; at < head; at += 1) steps.push({ kind: "keep", index: at, value: intended[at] });
  const oldEnd = old.length - tail;
  const intendedEnd = intended.length - tail;
  const pairs = Math.min(oldEnd, intendedEnd) - head;
  const inPlace = oldEnd === intendedEnd ? pairs : 0;
  for (let at = head; at < head + inPlace; at += 1) steps.push({ kind: "keep", index: at, value: intended[at] });
  for (let at = head + inPlace; at < oldEnd; at += 1) steps.push({ kind: "remove", index: at });
  for (let at = head + inPlace; at < intendedEnd; at += 1) {
    steps.push({ kind: "insert", after: head + inPlace - 1, value: intended[at] });
  }
  for (let at = 0; at < tail; at += 1) {
    steps.push({ kind: "keep", index: oldEnd + at, value: intended[intendedEnd + at] });
  }
  return steps;
}

function sameItem(old: unknown, intended: unknown): boolean {
  if (isRawObject(old) && isRawObject(intended) && typeof old["name"] === "string")
    return old["name"] === intended["name"];
  return sameJson(old, intended);
}
