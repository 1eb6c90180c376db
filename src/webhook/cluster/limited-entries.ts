/** A map with a limit per namespace and a total limit. A namespace never evicts entries of a namespace with fewer entries. */
import { namespaceOf } from "../../api-server/store.ts";

type EntryLimits<T> = {
  readonly perNamespace: number;
  readonly total: number;
  /** The entry with the lowest time is evicted first. */
  readonly timeOf: (entry: T) => number;
};

/** `set` may evict any entry, including the new one. */
export class LimitedEntries<T> extends Map<string, T> {
  readonly #limits: EntryLimits<T>;
  readonly #keys = new Map<string, Set<string>>();

  constructor(limits: EntryLimits<T>) {
    super();
    this.#limits = limits;
  }

  override set(key: string, value: T): this {
    super.set(key, value);
    const namespace = namespaceOf(key);
    const keys = this.#keys.get(namespace) ?? new Set();
    this.#keys.set(namespace, keys.add(key));
    if (keys.size > this.#limits.perNamespace) this.#evictOldest(keys);
    if (this.size > this.#limits.total) this.#evictOldest(this.#largestOr(keys));
    return this;
  }

  override delete(key: string): boolean {
    const namespace = namespaceOf(key);
    const keys = this.#keys.get(namespace);
    keys?.delete(key);
    if (keys?.size === 0) this.#keys.delete(namespace);
    return super.delete(key);
  }

  override clear(): void {
    this.#keys.clear();
    super.clear();
  }

  /** The keys of the namespace with the most entries; of equally large namespaces, the namespace of `preferredKeys`. */
  #largestOr(preferredKeys: ReadonlySet<string>): ReadonlySet<string> {
    let largest = preferredKeys;
    for (const keys of this.#keys.values()) if (keys.size > largest.size) largest = keys;
    return largest;
  }

  #evictOldest(keys: ReadonlySet<string>): void {
    const timeOf = (key: string): number => {
      const entry = this.get(key);
      return entry === undefined ? Number.NEGATIVE_INFINITY : this.#limits.timeOf(entry);
    };
    this.delete([...keys].reduce((oldest, key) => (timeOf(key) < timeOf(oldest) ? key : oldest)));
  }
}
