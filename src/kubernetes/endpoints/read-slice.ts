/**
 * Reads the fields of an EndpointSlice that determine a Pod's endpoint state. Pure; never throws.
 *
 * @see https://kubernetes.io/docs/reference/kubernetes-api/service-resources/endpoint-slice-v1/
 */
import { listAt, objectAt, objectsAt, type RawObject, textAt, valueAt } from "../raw-json.ts";
import { canonicalAddress } from "./address-text.ts";
import type { Slice, SliceEndpoint } from "./slice.ts";

const NAME_LIMIT_CHARACTERS = 253;

const UNPRINTABLE = /[^\x20-\x7e]/;
const ALL_UNPRINTABLE = new RegExp(UNPRINTABLE, "g");

/** Slices share these strings instead of storing copies. */
const ADDRESS_TYPES: ReadonlyMap<string, string> = new Map(["IPv4", "IPv6", "FQDN"].map((word) => [word, word]));

/**
 * A condition that is not a boolean counts as unset. An unset condition never means that the endpoint is withdrawn.
 *
 * @returns `undefined` for an object of another kind, or without a name, such as a watch bookmark
 */
export function readSlice(raw: RawObject): Slice | undefined {
  const kind = valueAt(raw, "kind");
  if (kind !== undefined && kind !== "EndpointSlice") return undefined;
  const metadata = objectAt(raw, "metadata");
  const name = nameAt(metadata, "name");
  if (name === "") return undefined;
  const labels = objectAt(metadata, "labels");
  const endpoints: SliceEndpoint[] = [];
  for (const rawEndpoint of objectsAt(raw, "endpoints")) {
    const endpoint = readEndpoint(rawEndpoint);
    if (endpoint !== undefined) endpoints.push(endpoint);
  }
  return {
    name,
    service: nameAt(labels, "kubernetes.io/service-name"),
    addressType: addressTypeOf(raw),
    endpoints,
  };
}

/** @returns `undefined` for an endpoint that has neither a Pod's uid nor an address */
function readEndpoint(raw: RawObject): SliceEndpoint | undefined {
  const target = objectAt(raw, "targetRef");
  const isPod = textAt(target, "kind") === "Pod";
  const targetUid = isPod ? nameAt(target, "uid") : "";
  const addresses = textsAt(raw, "addresses");
  if (targetUid === "" && addresses.length === 0) return undefined;
  const conditions = objectAt(raw, "conditions");
  return {
    // Only endpoints without a uid are matched by address, so only their addresses need the slow conversion.
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

/** Names appear in messages, so they are truncated and unprintable characters are replaced. */
function nameAt(parent: RawObject | undefined, key: string): string {
  const text = textAt(parent, key) ?? "";
  // Hot path: called twice for each endpoint of each event.
  if (text.length <= NAME_LIMIT_CHARACTERS && !UNPRINTABLE.test(text)) return text;
  return text.slice(0, NAME_LIMIT_CHARACTERS).replaceAll(ALL_UNPRINTABLE, "?");
}

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
