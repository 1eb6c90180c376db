/** Caches a reduced form of each object of one kind, by namespace and name. */
import { objectAt, type RawObject, textAt } from "../kubernetes/raw-json.ts";

/** Reduces an object to the part that is cached; `undefined` if the object is not cached. */
export type ReduceObject<T> = (object: RawObject) => T | undefined;

/** Creates the store's map, which may limit its size. Lists are read into such a map, so the limit applies to them too. */
export type NewEntries<T> = () => Map<string, T>;

export type Store<T> = {
  readonly entries: ReadonlyMap<string, T>;
  /** Increases with every change. */
  readonly generation: () => number;
  readonly replace: (objects: Iterable<readonly [string, T]>) => void;
  readonly put: (object: RawObject) => void;
  readonly remove: (object: RawObject) => void;
  readonly reduce: ReduceObject<T>;
  readonly newEntries?: NewEntries<T>;
};

/** @param newEntries has to create a map with limits if tenants control the number of objects */
export function createStore<T>(reduce: ReduceObject<T>, newEntries: NewEntries<T> = () => new Map()): Store<T> {
  const entries = newEntries();
  let generation = 0;
  const remove = (object: RawObject): void => {
    if (entries.delete(keyOf(object))) generation += 1;
  };
  return {
    entries,
    generation: () => generation,
    reduce,
    newEntries,
    replace: (objects) => {
      entries.clear();
      for (const [key, value] of objects) entries.set(key, value);
      generation += 1;
    },
    put: (object) => {
      const value = reduce(object);
      // An earlier version of the object may be cached.
      if (value === undefined) return remove(object);
      entries.set(keyOf(object), value);
      generation += 1;
    },
    remove,
  };
}

export function keyOf(object: RawObject): string {
  const metadata = objectAt(object, "metadata");
  const namespace = textAt(metadata, "namespace") ?? "";
  const name = textAt(metadata, "name") ?? "";
  return namespace === "" ? name : `${namespace}/${name}`;
}

export function namespaceOf(key: string): string {
  return key.slice(0, Math.max(0, key.indexOf("/")));
}

/** Caches a summary until the store changes. */
export function createSummaryReader<T, S>(store: Store<T>, summarize: (entries: ReadonlyMap<string, T>) => S): () => S {
  let summarizedGeneration = -1;
  let summary: S | undefined;
  return () => {
    if (summary === undefined || summarizedGeneration !== store.generation()) {
      summarizedGeneration = store.generation();
      summary = summarize(store.entries);
    }
    return summary;
  };
}
