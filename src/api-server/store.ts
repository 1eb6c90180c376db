/** What is remembered of one kind of object: only what a caller asks for, by namespace and name. */
import { objectAt, type RawObject, textAt } from "../kubernetes/raw-json.ts";

/** The part of an object that is worth its memory; `undefined` when nothing of it is. */
export type Keep<T> = (object: RawObject) => T | undefined;

/** An empty map for entries; a list is gathered in one as well, so that a limit holds while a list is read. */
export type NewEntries<T> = () => Map<string, T>;

export type Store<T> = {
  readonly entries: ReadonlyMap<string, T>;
  /** Rises with every change, so that summaries are made once per change. */
  readonly generation: () => number;
  /** A whole list: whatever is not in it is gone. */
  readonly replace: (objects: Iterable<readonly [string, T]>) => void;
  readonly put: (object: RawObject) => void;
  readonly remove: (object: RawObject) => void;
  readonly keep: Keep<T>;
  /** Without it a list is gathered in a plain map. */
  readonly newEntries?: NewEntries<T>;
};

/** @param newEntries a map with limits where tenants decide how many objects there are */
export function createStore<T>(keep: Keep<T>, newEntries: NewEntries<T> = () => new Map()): Store<T> {
  const entries = newEntries();
  let generation = 0;
  const remove = (object: RawObject): void => {
    if (entries.delete(keyOf(object))) generation += 1;
  };
  return {
    entries,
    generation: () => generation,
    keep,
    newEntries,
    replace: (objects) => {
      entries.clear();
      for (const [key, value] of objects) entries.set(key, value);
      generation += 1;
    },
    put: (object) => {
      const value = keep(object);
      // Once kept and now nothing worth keeping: the old part must not stay.
      if (value === undefined) return remove(object);
      entries.set(keyOf(object), value);
      generation += 1;
    },
    remove,
  };
}

/** `namespace/name`, or `name` for what has no namespace. */
export function keyOf(object: RawObject): string {
  const metadata = objectAt(object, "metadata");
  const namespace = textAt(metadata, "namespace") ?? "";
  const name = textAt(metadata, "name") ?? "";
  return namespace === "" ? name : `${namespace}/${name}`;
}

/** Of a key; empty for what has no namespace. */
export function namespaceOf(key: string): string {
  return key.slice(0, Math.max(0, key.indexOf("/")));
}

/** Makes a summary once per generation of a store. */
export function summaryOf<T, S>(store: Store<T>, summarise: (entries: ReadonlyMap<string, T>) => S): () => S {
  let at = -1;
  let summary: S | undefined;
  return () => {
    if (summary === undefined || at !== store.generation()) {
      at = store.generation();
      summary = summarise(store.entries);
    }
    return summary;
  };
}
