/** One namespace's slices, and whom each of them concerns: an event reaches the Pods it names and no other. Pure. */
import type { Store } from "../../api-server/store.ts";
import { keyOf } from "../../api-server/store.ts";
import type { RawObject } from "../../kubernetes/raw-json.ts";
import { readSlice } from "../../kubernetes/rotation/read-slice.ts";
import type { PodIdentity, Slice, SliceEndpoint } from "../../kubernetes/rotation/rotation.ts";
import {
  hashesOf,
  keysOfPod,
  mayName,
  type PackedSlice,
  type PodKey,
  packSlice,
  samePacked,
  unpackWanted,
} from "./packed-slice.ts";

export type Asker = {
  /** Every slice that names the Pod, with no endpoints but those about it. */
  readonly slices: () => Iterable<Slice>;
  readonly leave: () => void;
};

export type SliceIndex = {
  /** Kept by a watch; every change of it is told to whom it concerns before the call returns. */
  readonly store: Store<PackedSlice>;
  /** `changed` is called once for each change that concerns the Pod, however many slices are in it. */
  readonly add: (pod: PodIdentity, changed: () => void) => Asker;
};

type Entry = { readonly keys: readonly PodKey[]; readonly named: Map<string, Slice>; readonly changed: () => void };

export function createSliceIndex(): SliceIndex {
  const slices = new Map<string, PackedSlice>();
  let generation = 0;
  const byKey = new Map<PodKey, Set<Entry>>();
  const bySlice = new Map<string, Set<Entry>>();
  /** How many entries' keys have the hash; most slices are passed over by it. */
  const hashes = new Map<number, number>();

  const isWanted = (key: PodKey): boolean => byKey.has(key);

  /** Remembers what the slice now says about each Pod, and answers whom that concerns. */
  const settle = (key: string, packed: PackedSlice | undefined): ReadonlySet<Entry> => {
    const concerned = new Set(bySlice.get(key));
    for (const entry of concerned) entry.named.delete(key);
    bySlice.delete(key);
    if (packed === undefined || !packed.hashes.some((hash) => hashes.has(hash))) return concerned;
    for (const [podKey, endpoints] of unpackWanted(packed, isWanted)) {
      for (const entry of byKey.get(podKey) ?? []) {
        note(entry, key, packed, endpoints);
        concerned.add(entry);
      }
    }
    return concerned;
  };

  const note = (entry: Entry, key: string, packed: PackedSlice, said: readonly SliceEndpoint[]): void => {
    const { name, service, addressType } = packed;
    const before = entry.named.get(key)?.endpoints;
    const endpoints = before === undefined ? said : [...before, ...said];
    entry.named.set(key, { name, service, addressType, endpoints });
    into(bySlice, key, entry);
  };

  const change = (key: string, packed: PackedSlice | undefined): ReadonlySet<Entry> => {
    const before = slices.get(key);
    if (packed === undefined) slices.delete(key);
    else slices.set(key, packed);
    if (samePacked(before, packed)) return new Set();
    generation += 1;
    return settle(key, packed);
  };

  const tell = (entries: Iterable<Entry>): void => {
    for (const entry of entries) entry.changed();
  };

  const remove = (object: RawObject): void => tell(change(keyOf(object), undefined));

  const store: Store<PackedSlice> = {
    entries: slices,
    generation: () => generation,
    keep,
    replace: (objects) => {
      const concerned = new Set<Entry>();
      const gone = new Set(slices.keys());
      for (const [key, packed] of objects) {
        gone.delete(key);
        for (const entry of change(key, packed)) concerned.add(entry);
      }
      for (const key of gone) for (const entry of change(key, undefined)) concerned.add(entry);
      tell(concerned);
    },
    put: (object) => tell(change(keyOf(object), keep(object))),
    remove,
  };

  const add = (pod: PodIdentity, changed: () => void): Asker => {
    const entry: Entry = { keys: keysOfPod(pod), named: new Map(), changed };
    const own = hashesOf(entry.keys);
    const all = [own.uid, ...own.addresses];
    for (const key of entry.keys) into(byKey, key, entry);
    for (const hash of all) hashes.set(hash, (hashes.get(hash) ?? 0) + 1);
    const isOwn = (key: PodKey): boolean => entry.keys.includes(key);
    for (const [key, packed] of slices) {
      if (!mayName(packed, own)) continue;
      for (const said of unpackWanted(packed, isOwn).values()) note(entry, key, packed, said);
    }
    let left = false;
    const leave = (): void => {
      if (left) return;
      left = true;
      for (const key of entry.keys) outOf(byKey, key, entry);
      for (const key of entry.named.keys()) outOf(bySlice, key, entry);
      for (const hash of all) lower(hashes, hash);
    };
    return { slices: () => entry.named.values(), leave };
  };

  return { store, add };
}

/** A slice that belongs to no Service is read by no proxy. */
function keep(object: RawObject): PackedSlice | undefined {
  const slice = readSlice(object);
  return slice === undefined || slice.service === "" ? undefined : packSlice(slice);
}

function into<T>(map: Map<string, Set<T>>, key: string, value: T): void {
  const set = map.get(key);
  if (set === undefined) map.set(key, new Set([value]));
  else set.add(value);
}

function outOf<T>(map: Map<string, Set<T>>, key: string, value: T): void {
  const set = map.get(key);
  set?.delete(value);
  if (set?.size === 0) map.delete(key);
}

function lower(counts: Map<number, number>, key: number): void {
  const count = counts.get(key) ?? 0;
  if (count <= 1) counts.delete(key);
  else counts.set(key, count - 1);
}
