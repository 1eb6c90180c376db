/**
 * A slice in few bytes. A later asker needs entries that were seen before, so a watched namespace is remembered
 * whole: 150 000 endpoints take 8 MB this way, 60 MB as objects, and 40 MB and more of JSON for each new list. Pure.
 */
import { canonicalAddress } from "../../kubernetes/rotation/address-text.ts";
import type { PodIdentity, Slice, SliceEndpoint } from "../../kubernetes/rotation/rotation.ts";

/** Addresses beside a uid are not kept: rotation does not ask for them. */
export type PackedSlice = {
  readonly name: string;
  readonly service: string;
  readonly addressType: string;
  /** One line per endpoint: a letter for its conditions, then its key, or the keys of its addresses as JSON. */
  readonly text: string;
  /** Of every key, in rising order. */
  readonly hashes: Uint32Array;
  /** Whether any endpoint is found by its addresses: hardly any slice has one. */
  readonly hasAddresses: boolean;
};

/** By what an endpoint is found: `=` and the uid of its Pod, or `@` and an address where it names no Pod. */
export type PodKey = string;

/** The uid's comes first. */
export function keysOfPod(pod: Pick<PodIdentity, "uid" | "addresses">): readonly PodKey[] {
  return [`=${pod.uid}`, ...new Set(pod.addresses.map((address) => `@${canonicalAddress(address)}`))];
}

function keysOfEndpoint(endpoint: SliceEndpoint): readonly PodKey[] {
  if (endpoint.targetUid !== "") return [`=${endpoint.targetUid}`];
  return endpoint.addresses.map((address) => `@${address}`);
}

export function packSlice(slice: Slice): PackedSlice {
  const lines: string[] = [];
  const hashes = new Set<number>();
  for (const endpoint of slice.endpoints) {
    const keys = keysOfEndpoint(endpoint);
    for (const key of keys) hashes.add(textHash(key));
    lines.push(conditionsLetter(endpoint) + (endpoint.targetUid === "" ? JSON.stringify(endpoint.addresses) : keys[0]));
  }
  const { name, service, addressType } = slice;
  return {
    name,
    service,
    addressType,
    text: lines.join("\n"),
    hashes: Uint32Array.from(hashes).sort(),
    hasAddresses: slice.endpoints.some((endpoint) => endpoint.targetUid === ""),
  };
}

export function samePacked(left: PackedSlice | undefined, right: PackedSlice | undefined): boolean {
  if (left === undefined || right === undefined) return left === right;
  return left.text === right.text && left.service === right.service && left.addressType === right.addressType;
}

/** The hashes of a Pod's keys, by kind. */
type KeyHashes = { readonly uid: number; readonly addresses: readonly number[] };

export function hashesOf(keys: readonly PodKey[]): KeyHashes {
  const [uid = "", ...addresses] = keys;
  return { uid: textHash(uid), addresses: addresses.map(textHash) };
}

/** May be wrong where it says yes, never where it says no. */
export function mayName(packed: PackedSlice, pod: KeyHashes): boolean {
  return holds(packed, pod.uid) || (packed.hasAddresses && pod.addresses.some((hash) => holds(packed, hash)));
}

function holds(packed: PackedSlice, hash: number): boolean {
  let low = 0;
  let high = packed.hashes.length - 1;
  while (low <= high) {
    const middle = (low + high) >>> 1;
    const found = packed.hashes[middle] ?? 0;
    if (found === hash) return true;
    if (found < hash) low = middle + 1;
    else high = middle - 1;
  }
  return false;
}

/**
 * What the slice says of every key that is wanted. What it says twice is found once: a slice written by hand may name one
 * address a thousand times, and thousands may ask about that address.
 */
export function unpackWanted(
  packed: PackedSlice,
  isWanted: (key: PodKey) => boolean,
): ReadonlyMap<PodKey, readonly SliceEndpoint[]> {
  const found = new Map<PodKey, SliceEndpoint[]>();
  const seen = new Set<string>();
  const note = (key: PodKey, letter: string, target: Target): void => {
    if (!isWanted(key) || seen.has(letter + key)) return;
    seen.add(letter + key);
    const endpoint = { ...conditionsOf(letter), ...target };
    const standing = found.get(key);
    if (standing === undefined) found.set(key, [endpoint]);
    else standing.push(endpoint);
  };
  for (const line of packed.text === "" ? [] : packed.text.split("\n")) {
    const letter = line.slice(0, 1);
    const rest = line.slice(1);
    if (rest.startsWith("=")) {
      note(rest, letter, { addresses: [], targetUid: rest.slice(1) });
      continue;
    }
    const addresses: readonly string[] = JSON.parse(rest);
    for (const address of addresses) note(`@${address}`, letter, { addresses: [address], targetUid: "" });
  }
  return found;
}

type Target = Pick<SliceEndpoint, "addresses" | "targetUid">;

type Conditions = Pick<SliceEndpoint, "ready" | "terminating">;

const TRISTATE: readonly (boolean | undefined)[] = [undefined, false, true];
const FIRST_LETTER = 65;

function conditionsLetter({ ready, terminating }: Conditions): string {
  return String.fromCharCode(FIRST_LETTER + TRISTATE.indexOf(ready) * 3 + TRISTATE.indexOf(terminating));
}

function conditionsOf(letter: string): Conditions {
  const digits = letter.charCodeAt(0) - FIRST_LETTER;
  return { ready: TRISTATE[Math.floor(digits / 3)], terminating: TRISTATE[digits % 3] };
}

/** FNV-1a over 32 bits: short, even, and not secret. Two texts may share one. */
function textHash(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
