/** Maps of sets and of counts that drop empty keys. Pure. */

export function addTo<T>(map: Map<string, Set<T>>, key: string, value: T): void {
  const set = map.get(key);
  if (set === undefined) map.set(key, new Set([value]));
  else set.add(value);
}

export function removeFrom<T>(map: Map<string, Set<T>>, key: string, value: T): void {
  const set = map.get(key);
  set?.delete(value);
  if (set?.size === 0) map.delete(key);
}

type Counts<K> = {
  readonly of: (key: K) => number;
  readonly add: (key: K) => void;
  readonly remove: (key: K) => void;
};

export function createCounts<K>(): Counts<K> {
  const counts = new Map<K, number>();
  const of = (key: K): number => counts.get(key) ?? 0;
  return {
    of,
    add: (key) => counts.set(key, of(key) + 1),
    remove: (key) => (of(key) <= 1 ? counts.delete(key) : counts.set(key, of(key) - 1)),
  };
}
