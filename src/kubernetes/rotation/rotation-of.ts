/**
 * Computes whether a Service still offers a Pod, from all slices by Service and address family. Pure.
 *
 * The result does not depend on the order of the slices.
 */
import { canonicalAddress } from "./address-text.ts";
import type { Offer, PodIdentity, Rotation, RotationOf, Slice, SliceEndpoint } from "./rotation.ts";

type Mention = { readonly slice: Slice; readonly endpoint: SliceEndpoint };

type Mentions = {
  readonly service: string;
  readonly family: Offer["family"];
  readonly all: Mention[];
};

export const rotationOf: RotationOf = (slices, pod) => {
  const offers = mentionsOf(slices, pod).map(offerOf);
  offers.sort((left, right) => compare(left.service, right.service) || compare(left.family, right.family));
  const state = stateOf(offers.map((offer) => offer.state));
  return { state, terminating: offers.some((offer) => offer.terminating), offers, reason: reasonOf(state, offers) };
};

/**
 * Whether the endpoint belongs to the Pod. A uid takes precedence over the address, which another Pod may use by now.
 * Endpoints without a uid, in mirrored and hand-made slices, are matched by address.
 *
 * @param addresses of the Pod, in canonical form
 */
export function isAbout(endpoint: SliceEndpoint, uid: string, addresses: readonly string[]): boolean {
  if (endpoint.targetUid !== "") return endpoint.targetUid === uid;
  return endpoint.addresses.some((address) => addresses.includes(address));
}

function mentionsOf(slices: Iterable<Slice>, pod: PodIdentity): Mentions[] {
  const addresses = pod.addresses.map(canonicalAddress);
  const found = new Map<string, Mentions>();
  for (const slice of slices) {
    // Proxies ignore slices without a Service.
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
    .sort(
      (left, right) =>
        compare(left.slice.name, right.slice.name) || compare(descriptionOf(state, left), descriptionOf(state, right)),
    );
  return {
    service,
    family,
    state,
    // Without a uid the condition is unreliable: no controller updates it in hand-made slices.
    terminating: all.some(({ endpoint }) => endpoint.targetUid !== "" && endpoint.terminating === true),
    reason: first === undefined ? "" : `Service ${service} ${descriptionOf(state, first)} (slice ${first.slice.name})`,
  };
}

/**
 * | ready | terminating | state |
 * |---|---|---|
 * | true, nil | false, nil | in |
 * | true, nil | true | out: `publishNotReadyAddresses` keeps it ready until the Pod is gone, which waits for the drain |
 * | false | any | out |
 *
 * `serving` is ignored: if no Pod is ready, proxies use serving terminating ones, which is visible only in their sockets.
 * A host name (FQDN) is never `in`: only DNS can resolve it to the Pod.
 */
function stateOfMention(family: Offer["family"], endpoint: SliceEndpoint): Offer["state"] {
  if (endpoint.ready === false || endpoint.terminating === true) return "out";
  return family === "FQDN" ? "unknown" : "in";
}

/** One endpoint that is `in` suffices: while it is moved it is in two slices, and a proxy may read either. */
function stateOf(states: readonly Offer["state"][]): Offer["state"] {
  if (states.includes("in")) return "in";
  return states.includes("unknown") ? "unknown" : "out";
}

function descriptionOf(state: Offer["state"], { endpoint }: Mention): string {
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

/** The same conditions apply to address types of later Kubernetes versions. */
function familyOf(addressType: string): Offer["family"] {
  if (addressType === "IPv4" || addressType === "IPv6" || addressType === "FQDN") return addressType;
  return "other";
}

function compare(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
