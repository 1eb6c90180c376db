/**
 * Whether a Service still offers a Pod: the union over all slices, by Service and address family. Pure.
 *
 * The order of the slices makes no difference, not even to the reasons.
 */
import { canonicalAddress } from "./address-text.ts";
import type { Offer, PodIdentity, Rotation, RotationOf, Slice, SliceEndpoint } from "./rotation.ts";

/** An entry of a slice that is about the Pod. */
type Mention = { readonly slice: Slice; readonly endpoint: SliceEndpoint };

/** Every entry about the Pod, in the slices of one Service and family. */
type Mentions = {
  readonly service: string;
  readonly family: Offer["family"];
  readonly all: Mention[];
};

/** A Pod that is in no slice at all is `out`, with no offers. */
export const rotationOf: RotationOf = (slices, pod) => {
  const offers = mentionsOf(slices, pod).map(offerOf);
  offers.sort((left, right) => compare(left.service, right.service) || compare(left.family, right.family));
  const state = stateOf(offers.map((offer) => offer.state));
  return { state, terminating: offers.some((offer) => offer.terminating), offers, reason: reasonOf(state, offers) };
};

/**
 * Whether an entry is about the Pod. A uid decides alone: an address may meanwhile be another Pod's, and its entry is
 * withdrawn with that Pod and not with ours, whichever slice it is in. Entries without one, as mirrored and hand-made
 * slices have, are known by their address.
 *
 * @param addresses the Pod's, each in its canonical spelling
 */
export function isAbout(endpoint: SliceEndpoint, uid: string, addresses: readonly string[]): boolean {
  if (endpoint.targetUid !== "") return endpoint.targetUid === uid;
  return endpoint.addresses.some((address) => addresses.includes(address));
}

function mentionsOf(slices: Iterable<Slice>, pod: PodIdentity): Mentions[] {
  const addresses = pod.addresses.map(canonicalAddress);
  const found = new Map<string, Mentions>();
  for (const slice of slices) {
    // No proxy reads a slice that belongs to no Service.
    if (slice.service === "") continue;
    for (const endpoint of slice.endpoints) {
      if (!isAbout(endpoint, pod.uid, addresses)) continue;
      const family = familyOf(slice.addressType);
      const key = `${family} ${slice.service}`;
      const mentions = found.get(key) ?? { service: slice.service, family, all: [] };
      mentions.all.push({ slice, endpoint });
      found.set(key, mentions);
    }
  }
  return [...found.values()];
}

function offerOf({ service, family, all }: Mentions): Offer {
  const states = all.map((mention) => stateOfMention(family, mention.endpoint));
  const state = stateOf(states);
  const [first] = all
    .filter((_mention, index) => states[index] === state)
    .sort((left, right) => compare(left.slice.name, right.slice.name) || compare(how(state, left), how(state, right)));
  return {
    service,
    family,
    state,
    // Only an entry that names the Pod can say so of the Pod: nothing keeps this condition in hand-made slices.
    terminating: all.some(({ endpoint }) => endpoint.targetUid !== "" && endpoint.terminating === true),
    reason: first === undefined ? "" : `Service ${service} ${how(state, first)} (slice ${first.slice.name})`,
  };
}

/**
 * | ready | terminating | state |
 * |---|---|---|
 * | true, nil | false, nil | in |
 * | true, nil | true | out: `publishNotReadyAddresses` keeps it so until the Pod is gone, which waits for us |
 * | false | any | out |
 *
 * `serving` does not count: with `ready` false it lets a sole Pod be sent traffic, which only its sockets tell.
 * A name (FQDN) is never `in`: whether it stands for the Pod is known to the DNS alone.
 */
function stateOfMention(family: Offer["family"], endpoint: SliceEndpoint): Offer["state"] {
  if (endpoint.ready === false || endpoint.terminating === true) return "out";
  return family === "FQDN" ? "unknown" : "in";
}

/** One entry that is `in` is enough: a moved one is in two slices for a while, and either may be read. */
function stateOf(states: readonly Offer["state"][]): Offer["state"] {
  if (states.includes("in")) return "in";
  return states.includes("unknown") ? "unknown" : "out";
}

function how(state: Offer["state"], { endpoint }: Mention): string {
  if (state === "in") return "still offers the Pod";
  if (state === "unknown") return "offers the Pod by a host name";
  if (endpoint.ready !== false) return "publishes the Pod to its very end";
  return endpoint.terminating === true ? "withdrew the Pod as terminating" : "withdrew the Pod as not ready";
}

function reasonOf(state: Rotation["state"], offers: readonly Offer[]): string {
  const [first, ...others] = offers.filter((offer) => offer.state === state);
  if (first === undefined) return "no Service offers the Pod";
  return others.length === 0 ? first.reason : `${first.reason}, and ${others.length} more`;
}

/** A type this version does not know is judged by the same conditions. */
function familyOf(addressType: string): Offer["family"] {
  if (addressType === "IPv4" || addressType === "IPv6" || addressType === "FQDN") return addressType;
  return "other";
}

function compare(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
