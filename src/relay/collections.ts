/** Maintains maps of sets and of counts, without entries for empty sets and zero counts. Pure. */

export function addToSet<T>(map: Map<string, Set<T>>, key: string, value: T): void {
  const set = map.get(key);
  if (set === undefined) map.set(key, new Set([value]));
  else set.add(value);
}

export function removeFromSet<T>(map: Map<string, Set<T>>, key: string, value: T): void {
  const set = map.get(key);
  set?.delete(value);
  if (set?.size === 0) map.delete(key);
}

type Counts<K> = {
  readonly get: (key: K) => number;
  readonly add: (key: K) => void;
  readonly remove: (key: K) => void;
};

export function createCounts<K>(): Counts<K> {
  const counts = new Map<K, number>();
  const get = (key: K): number => counts.get(key) ?? 0;
  return {
    get,
    add: (key) => counts.set(key, get(key) + 1),
    remove: (key) => (get(key) <= 1 ? counts.delete(key) : counts.set(key, get(key) - 1)),
  };
}
