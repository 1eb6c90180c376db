/** Indexes the slices of one namespace by Pod, so that an event reaches only the Pods that its slice names. Pure. */
import { keyOf, type Store } from "../../api-server/store.ts";
import type { RawObject } from "../../kubernetes/raw-json.ts";
import { readSlice } from "../../kubernetes/rotation/read-slice.ts";
import type { PodIdentity, Slice, SliceEndpoint } from "../../kubernetes/rotation/rotation.ts";
import { addTo, createCounts, removeFrom } from "../collections.ts";
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

export type IndexClient = {
  readonly slices: () => Iterable<Slice>;
  readonly leave: () => void;
};

export type SliceIndex = {
  /** Filled by a reflector; notifies the Pods of a change before the call returns. */
  readonly store: Store<PackedSlice>;
  /** `changed` is called once per change that affects the Pod, however many slices it contains. */
  readonly add: (pod: PodIdentity, changed: () => void) => IndexClient;
};

type Entry = { readonly keys: readonly PodKey[]; readonly named: Map<string, Slice>; readonly changed: () => void };

export function createSliceIndex(): SliceIndex {
  const slices = new Map<string, PackedSlice>();
  let generation = 0;
  const byKey = new Map<PodKey, Set<Entry>>();
  const bySlice = new Map<string, Set<Entry>>();
  const hashes = createCounts<number>();

  const addSlice = (entry: Entry, key: string, packed: PackedSlice, added: readonly SliceEndpoint[]): void => {
    const { name, service, addressType } = packed;
    const endpoints = [...(entry.named.get(key)?.endpoints ?? []), ...added];
    entry.named.set(key, { name, service, addressType, endpoints });
    addTo(bySlice, key, entry);
  };

  const settle = (key: string, packed: PackedSlice | undefined): ReadonlySet<Entry> => {
    const concerned = new Set(bySlice.get(key));
    for (const entry of concerned) entry.named.delete(key);
    bySlice.delete(key);
    if (packed === undefined || !packed.hashes.some((hash) => hashes.of(hash) > 0)) return concerned;
    for (const [podKey, endpoints] of unpackWanted(packed, (wanted) => byKey.has(wanted))) {
      for (const entry of byKey.get(podKey) ?? []) {
        addSlice(entry, key, packed, endpoints);
        concerned.add(entry);
      }
    }
    return concerned;
  };

  const change = (key: string, packed: PackedSlice | undefined): ReadonlySet<Entry> => {
    const before = slices.get(key);
    if (packed === undefined) slices.delete(key);
    else slices.set(key, packed);
    if (samePacked(before, packed)) return new Set();
    generation += 1;
    return settle(key, packed);
  };

  const notify = (entries: Iterable<Entry>): void => {
    for (const entry of entries) entry.changed();
  };

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
      notify(concerned);
    },
    put: (object) => notify(change(keyOf(object), keep(object))),
    remove: (object) => notify(change(keyOf(object), undefined)),
  };

  const add = (pod: PodIdentity, changed: () => void): IndexClient => {
    const entry: Entry = { keys: keysOfPod(pod), named: new Map(), changed };
    const own = hashesOf(entry.keys);
    const all = [own.uid, ...own.addresses];
    for (const key of entry.keys) addTo(byKey, key, entry);
    for (const hash of all) hashes.add(hash);
    for (const [key, packed] of slices) {
      if (!mayName(packed, own)) continue;
      const found = unpackWanted(packed, (podKey) => entry.keys.includes(podKey));
      for (const endpoints of found.values()) addSlice(entry, key, packed, endpoints);
    }
    let left = false;
    const leave = (): void => {
      if (left) return;
      left = true;
      for (const key of entry.keys) removeFrom(byKey, key, entry);
      for (const key of entry.named.keys()) removeFrom(bySlice, key, entry);
      for (const hash of all) hashes.remove(hash);
    };
    return { slices: () => entry.named.values(), leave };
  };

  return { store, add };
}

/** Drops slices without a Service, which proxies ignore. */
function keep(object: RawObject): PackedSlice | undefined {
  const slice = readSlice(object);
  return slice === undefined || slice.service === "" ? undefined : packSlice(slice);
}
