/**
 * An EndpointSlice of the wire, cut down to what rotation asks about. Pure; nothing in it can make it throw.
 *
 * @see https://kubernetes.io/docs/reference/kubernetes-api/service-resources/endpoint-slice-v1/
 */
import { listAt, objectAt, objectsAt, type RawObject, textAt, valueAt } from "../raw-json.ts";
import { canonicalAddress } from "./address-text.ts";
import type { Slice, SliceEndpoint } from "./rotation.ts";

/** Longest name the API server takes. */
const NAME_LIMIT = 253;

const UNPRINTABLE = /[^\x20-\x7e]/;
const ALL_UNPRINTABLE = new RegExp(UNPRINTABLE, "g");

/** Of these nearly every slice has one: what is kept of each is this one text and not a copy per slice. */
const ADDRESS_TYPES: ReadonlyMap<string, string> = new Map(["IPv4", "IPv6", "FQDN"].map((word) => [word, word]));

/**
 * `undefined` for what is no slice: another kind, or without a name, as the object of a bookmark is. Ports, zones, nodes
 * and managed fields are not kept. A condition that is not a boolean counts as nil, and nil never means withdrawn.
 */
export function readSlice(raw: RawObject): Slice | undefined {
  const kind = valueAt(raw, "kind");
  // Items of a list do not say their kind.
  if (kind !== undefined && kind !== "EndpointSlice") return undefined;
  const metadata = objectAt(raw, "metadata");
  const name = nameAt(metadata, "name");
  if (name === "") return undefined;
  const labels = objectAt(metadata, "labels");
  const endpoints: SliceEndpoint[] = [];
  for (const each of objectsAt(raw, "endpoints")) {
    const endpoint = readEndpoint(each);
    if (endpoint !== undefined) endpoints.push(endpoint);
  }
  return {
    name,
    service: nameAt(labels, "kubernetes.io/service-name"),
    addressType: addressTypeOf(raw),
    endpoints,
  };
}

/** `undefined` for an entry that could not be found again: it names no Pod and has no address. */
function readEndpoint(raw: RawObject): SliceEndpoint | undefined {
  const target = objectAt(raw, "targetRef");
  const isPod = textAt(target, "kind") === "Pod";
  const targetUid = isPod ? nameAt(target, "uid") : "";
  const addresses = textsAt(raw, "addresses");
  if (targetUid === "" && addresses.length === 0) return undefined;
  const conditions = objectAt(raw, "conditions");
  return {
    // With a uid no address is compared, and the kubelet's are well written: the costlier look is for the others.
    addresses: targetUid === "" ? addresses.map(canonicalAddress) : addresses,
    ready: booleanAt(conditions, "ready"),
    terminating: booleanAt(conditions, "terminating"),
    targetUid,
  };
}

function addressTypeOf(raw: RawObject): string {
  const text = nameAt(raw, "addressType");
  return ADDRESS_TYPES.get(text) ?? text;
}

/** Names end up in reasons that people read: printable, and never longer than a name can be. */
function nameAt(parent: RawObject | undefined, key: string): string {
  const text = textAt(parent, key) ?? "";
  // Asked twice for every endpoint of every event, and hardly ever anything else.
  if (text.length <= NAME_LIMIT && !UNPRINTABLE.test(text)) return text;
  return text.slice(0, NAME_LIMIT).replaceAll(ALL_UNPRINTABLE, "?");
}

/** The texts of a list; anything else in it is passed over. */
function textsAt(parent: RawObject, key: string): readonly string[] {
  const list = listAt(parent, key);
  return list.every(isText) ? list : list.filter(isText);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function booleanAt(parent: RawObject | undefined, key: string): boolean | undefined {
  const value = valueAt(parent, key);
  return typeof value === "boolean" ? value : undefined;
}
