/**
 * Packs a slice into a string: 150 000 endpoints take 8 MB, instead of 60 MB as objects and 40 MB as JSON. All endpoints
 * of a namespace are kept, because Pods that connect later need earlier entries. Pure.
 */
import { canonicalAddress } from "../../kubernetes/endpoints/address-text.ts";
import type { PodIdentity, Slice, SliceEndpoint } from "../../kubernetes/endpoints/slice.ts";

/** Addresses of endpoints that have a uid are omitted: the endpoint state does not depend on them. */
export type PackedSlice = {
  readonly name: string;
  readonly service: string;
  readonly addressType: string;
  /** One line per endpoint: a letter for its conditions, then its key, or its addresses as JSON. */
  readonly text: string;
  /** The hashes of all keys, in ascending order. */
  readonly hashes: Uint32Array;
  readonly hasAddresses: boolean;
};

/** `=` and the Pod's uid, or `@` and an address where the endpoint has no targetRef. */
export type PodKey = string;

export function keysOfPod(pod: Pick<PodIdentity, "uid" | "addresses">): readonly PodKey[] {
  return [`=${pod.uid}`, ...new Set(pod.addresses.map((address) => `@${canonicalAddress(address)}`))];
}

export function packSlice({ name, service, addressType, endpoints }: Slice): PackedSlice {
  const hashes = new Set<number>();
  const lines = endpoints.map((endpoint) => {
    const { targetUid, addresses } = endpoint;
    const keys = targetUid === "" ? addresses.map((address) => `@${address}`) : [`=${targetUid}`];
    for (const key of keys) hashes.add(hashText(key));
    return encodeConditions(endpoint) + (targetUid === "" ? JSON.stringify(addresses) : keys[0]);
  });
  return {
    name,
    service,
    addressType,
    text: lines.join("\n"),
    hashes: Uint32Array.from(hashes).sort(),
    hasAddresses: endpoints.some(({ targetUid }) => targetUid === ""),
  };
}

export function isSameSlice(left: PackedSlice | undefined, right: PackedSlice | undefined): boolean {
  if (left === undefined || right === undefined) return left === right;
  return left.text === right.text && left.service === right.service && left.addressType === right.addressType;
}

type KeyHashes = { readonly uid: number; readonly addresses: readonly number[] };

export function hashKeys(keys: readonly PodKey[]): KeyHashes {
  const [uid = "", ...addresses] = keys;
  return { uid: hashText(uid), addresses: addresses.map(hashText) };
}

/** `true` may be wrong because of a hash collision; `false` is certain. */
export function mayContain(packed: PackedSlice, pod: KeyHashes): boolean {
  return hasHash(packed, pod.uid) || (packed.hasAddresses && pod.addresses.some((hash) => hasHash(packed, hash)));
}

function hasHash({ hashes }: PackedSlice, hash: number): boolean {
  let low = 0;
  let high = hashes.length - 1;
  while (low <= high) {
    const middle = (low + high) >>> 1;
    const candidate = hashes[middle] ?? 0;
    if (candidate === hash) return true;
    if (candidate < hash) low = middle + 1;
    else high = middle - 1;
  }
  return false;
}

/** Skips duplicate endpoints: a manually created EndpointSlice can list one address thousands of times. */
export function unpackEndpoints(
  packed: PackedSlice,
  isWanted: (key: PodKey) => boolean,
): ReadonlyMap<PodKey, readonly SliceEndpoint[]> {
  const endpointsByKey = new Map<PodKey, SliceEndpoint[]>();
  const addedKeys = new Set<string>();
  const add = (key: PodKey, letter: string, target: Pick<SliceEndpoint, "addresses" | "targetUid">): void => {
    if (!isWanted(key) || addedKeys.has(letter + key)) return;
    addedKeys.add(letter + key);
    const endpoint = { ...decodeConditions(letter), ...target };
    const endpoints = endpointsByKey.get(key);
    if (endpoints === undefined) endpointsByKey.set(key, [endpoint]);
    else endpoints.push(endpoint);
  };
  for (const line of packed.text === "" ? [] : packed.text.split("\n")) {
    const letter = line.slice(0, 1);
    const encodedTarget = line.slice(1);
    if (encodedTarget.startsWith("=")) {
      add(encodedTarget, letter, { addresses: [], targetUid: encodedTarget.slice(1) });
      continue;
    }
    const addresses: readonly string[] = JSON.parse(encodedTarget);
    for (const address of addresses) add(`@${address}`, letter, { addresses: [address], targetUid: "" });
  }
  return endpointsByKey;
}

type Conditions = Pick<SliceEndpoint, "ready" | "terminating">;

const TRISTATE: readonly (boolean | undefined)[] = [undefined, false, true];
const FIRST_LETTER = 65;

function encodeConditions({ ready, terminating }: Conditions): string {
  return String.fromCharCode(FIRST_LETTER + TRISTATE.indexOf(ready) * 3 + TRISTATE.indexOf(terminating));
}

function decodeConditions(letter: string): Conditions {
  const digits = letter.charCodeAt(0) - FIRST_LETTER;
  return { ready: TRISTATE[Math.floor(digits / 3)], terminating: TRISTATE[digits % 3] };
}

function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash >>> 0;
}
