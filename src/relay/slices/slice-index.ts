/** Indexes the slices of one namespace by Pod, so that an event reaches only the Pods that its slice names. Pure. */
import { keyOf, type Store } from "../../api-server/store.ts";
import { readSlice } from "../../kubernetes/endpoints/read-slice.ts";
import type { PodIdentity, Slice, SliceEndpoint } from "../../kubernetes/endpoints/slice.ts";
import type { RawObject } from "../../kubernetes/raw-json.ts";
import { addToSet, createCounts, removeFromSet } from "../collections.ts";
import {
  hashKeys,
  isSameSlice,
  keysOfPod,
  mayContain,
  type PackedSlice,
  type PodKey,
  packSlice,
  unpackEndpoints,
} from "./packed-slice.ts";

export type IndexSubscription = {
  readonly slices: () => Iterable<Slice>;
  readonly unsubscribe: () => void;
};

export type SliceIndex = {
  /** A reflector writes to this store. A write notifies the affected Pods before it returns. */
  readonly store: Store<PackedSlice>;
  /** `onChange` is called once per change that affects the Pod, even if the change consists of many slices. */
  readonly add: (pod: PodIdentity, onChange: () => void) => IndexSubscription;
};

type PodEntry = {
  readonly keys: readonly PodKey[];
  readonly slices: Map<string, Slice>;
  readonly onChange: () => void;
};

export function createSliceIndex(): SliceIndex {
  const slices = new Map<string, PackedSlice>();
  let generation = 0;
  const entriesByKey = new Map<PodKey, Set<PodEntry>>();
  const entriesBySlice = new Map<string, Set<PodEntry>>();
  const hashCounts = createCounts<number>();

  const addSlice = (
    entry: PodEntry,
    key: string,
    packed: PackedSlice,
    addedEndpoints: readonly SliceEndpoint[],
  ): void => {
    const { name, service, addressType } = packed;
    const endpoints = [...(entry.slices.get(key)?.endpoints ?? []), ...addedEndpoints];
    entry.slices.set(key, { name, service, addressType, endpoints });
    addToSet(entriesBySlice, key, entry);
  };

  const updateEntries = (key: string, packed: PackedSlice | undefined): ReadonlySet<PodEntry> => {
    const affectedEntries = new Set(entriesBySlice.get(key));
    for (const entry of affectedEntries) entry.slices.delete(key);
    entriesBySlice.delete(key);
    if (packed === undefined || !packed.hashes.some((hash) => hashCounts.get(hash) > 0)) return affectedEntries;
    for (const [podKey, endpoints] of unpackEndpoints(packed, (podKey) => entriesByKey.has(podKey))) {
      for (const entry of entriesByKey.get(podKey) ?? []) {
        addSlice(entry, key, packed, endpoints);
        affectedEntries.add(entry);
      }
    }
    return affectedEntries;
  };

  const setSlice = (key: string, packed: PackedSlice | undefined): ReadonlySet<PodEntry> => {
    const previous = slices.get(key);
    if (packed === undefined) slices.delete(key);
    else slices.set(key, packed);
    if (isSameSlice(previous, packed)) return new Set();
    generation += 1;
    return updateEntries(key, packed);
  };

  const notify = (entries: Iterable<PodEntry>): void => {
    for (const entry of entries) entry.onChange();
  };

  const store: Store<PackedSlice> = {
    entries: slices,
    generation: () => generation,
    reduce: packObject,
    replace: (objects) => {
      const affectedEntries = new Set<PodEntry>();
      const removedKeys = new Set(slices.keys());
      for (const [key, packed] of objects) {
        removedKeys.delete(key);
        for (const entry of setSlice(key, packed)) affectedEntries.add(entry);
      }
      for (const key of removedKeys) for (const entry of setSlice(key, undefined)) affectedEntries.add(entry);
      notify(affectedEntries);
    },
    put: (object) => notify(setSlice(keyOf(object), packObject(object))),
    remove: (object) => notify(setSlice(keyOf(object), undefined)),
  };

  const add = (pod: PodIdentity, onChange: () => void): IndexSubscription => {
    const entry: PodEntry = { keys: keysOfPod(pod), slices: new Map(), onChange };
    const podHashes = hashKeys(entry.keys);
    const allHashes = [podHashes.uid, ...podHashes.addresses];
    for (const key of entry.keys) addToSet(entriesByKey, key, entry);
    for (const hash of allHashes) hashCounts.add(hash);
    for (const [key, packed] of slices) {
      if (!mayContain(packed, podHashes)) continue;
      const ownEndpoints = unpackEndpoints(packed, (podKey) => entry.keys.includes(podKey));
      for (const endpoints of ownEndpoints.values()) addSlice(entry, key, packed, endpoints);
    }
    let hasUnsubscribed = false;
    const unsubscribe = (): void => {
      if (hasUnsubscribed) return;
      hasUnsubscribed = true;
      for (const key of entry.keys) removeFromSet(entriesByKey, key, entry);
      for (const key of entry.slices.keys()) removeFromSet(entriesBySlice, key, entry);
      for (const hash of allHashes) hashCounts.remove(hash);
    };
    return { slices: () => entry.slices.values(), unsubscribe };
  };

  return { store, add };
}

/** Drops slices without a Service, which proxies ignore. */
function packObject(object: RawObject): PackedSlice | undefined {
  const slice = readSlice(object);
  return slice === undefined || slice.service === "" ? undefined : packSlice(slice);
}
