/**
 * Computes the endpoint state of a Pod from all EndpointSlices, by Service and address family. Pure.
 *
 * The result does not depend on the order of the slices.
 */
import { canonicalAddress } from "./address-text.ts";
import type {
  ComputeEndpointStatus,
  EndpointStatus,
  PodIdentity,
  ServiceEndpointStatus,
  Slice,
  SliceEndpoint,
} from "./slice.ts";

type PodEndpoint = { readonly slice: Slice; readonly endpoint: SliceEndpoint };

type PodEndpoints = {
  readonly service: string;
  readonly family: ServiceEndpointStatus["family"];
  readonly endpoints: PodEndpoint[];
};

export const endpointStateOf: ComputeEndpointStatus = (slices, pod) => {
  const services = podEndpointsOf(slices, pod).map(serviceStatusOf);
  services.sort((left, right) => compareTexts(left.service, right.service) || compareTexts(left.family, right.family));
  const state = combinedStateOf(services.map((service) => service.state));
  return {
    state,
    terminating: services.some((service) => service.terminating),
    services,
    reason: reasonOf(state, services),
  };
};

/**
 * Whether the endpoint belongs to the Pod. A uid takes precedence over the address, which another Pod may use now. Endpoints
 * without a uid, in mirrored and handwritten slices, are matched by address.
 *
 * @param addresses of the Pod, in canonical form
 */
export function belongsToPod(endpoint: SliceEndpoint, uid: string, addresses: readonly string[]): boolean {
  if (endpoint.targetUid !== "") return endpoint.targetUid === uid;
  return endpoint.addresses.some((address) => addresses.includes(address));
}

function podEndpointsOf(slices: Iterable<Slice>, pod: PodIdentity): PodEndpoints[] {
  const addresses = pod.addresses.map(canonicalAddress);
  const endpointsByKey = new Map<string, PodEndpoints>();
  for (const slice of slices) {
    // Proxies ignore slices without a Service.
    if (slice.service === "") continue;
    for (const endpoint of slice.endpoints) {
      if (!belongsToPod(endpoint, pod.uid, addresses)) continue;
      const family = familyOf(slice.addressType);
      const key = `${family} ${slice.service}`;
      const podEndpoints = endpointsByKey.get(key) ?? { service: slice.service, family, endpoints: [] };
      podEndpoints.endpoints.push({ slice, endpoint });
      endpointsByKey.set(key, podEndpoints);
    }
  }
  return [...endpointsByKey.values()];
}

function serviceStatusOf({ service, family, endpoints }: PodEndpoints): ServiceEndpointStatus {
  const states = endpoints.map(({ endpoint }) => stateOfEndpoint(family, endpoint));
  const state = combinedStateOf(states);
  const [first] = endpoints
    .filter((_endpoint, index) => states[index] === state)
    .sort(
      (left, right) =>
        compareTexts(left.slice.name, right.slice.name) ||
        compareTexts(descriptionOf(state, left), descriptionOf(state, right)),
    );
  return {
    service,
    family,
    state,
    // Without a uid the condition is unreliable, because no controller updates handwritten slices.
    terminating: endpoints.some(({ endpoint }) => endpoint.targetUid !== "" && endpoint.terminating === true),
    reason: first === undefined ? "" : `Service ${service} ${descriptionOf(state, first)} (slice ${first.slice.name})`,
  };
}

/**
 * | ready | terminating | state |
 * |---|---|---|
 * | true, nil | false, nil | in |
 * | true, nil | true | out: with `publishNotReadyAddresses` the endpoint stays ready until the Pod is removed, which waits for the drain |
 * | false | any | out |
 *
 * `serving` is ignored. If no Pod is ready, proxies send requests to terminating Pods that serve; only samples of the Pod's
 * sockets show such requests.
 * An endpoint with a host name (FQDN) is never `in`, because only DNS can resolve the name to the Pod.
 */
function stateOfEndpoint(
  family: ServiceEndpointStatus["family"],
  endpoint: SliceEndpoint,
): ServiceEndpointStatus["state"] {
  if (endpoint.ready === false || endpoint.terminating === true) return "out";
  return family === "FQDN" ? "unknown" : "in";
}

/** One `in` suffices: while a controller moves an endpoint, two slices contain it, and a proxy may read either slice. */
function combinedStateOf(states: readonly ServiceEndpointStatus["state"][]): ServiceEndpointStatus["state"] {
  if (states.includes("in")) return "in";
  return states.includes("unknown") ? "unknown" : "out";
}

function descriptionOf(state: ServiceEndpointStatus["state"], { endpoint }: PodEndpoint): string {
  if (state === "in") return "still has the Pod as a ready endpoint";
  if (state === "unknown") return "has the Pod as an endpoint with a host name";
  if (endpoint.ready !== false) return "publishes the Pod as ready until the Pod is removed";
  return endpoint.terminating === true
    ? "has the Pod as a terminating endpoint"
    : "has the Pod as an endpoint that is not ready";
}

function reasonOf(state: EndpointStatus["state"], services: readonly ServiceEndpointStatus[]): string {
  const [first, ...others] = services.filter((service) => service.state === state);
  if (first === undefined) return "no Service has the Pod as an endpoint";
  return others.length === 0 ? first.reason : `${first.reason}, and ${others.length} more`;
}

/** Address types of later Kubernetes versions are `other`; their endpoints have the same conditions. */
function familyOf(addressType: string): ServiceEndpointStatus["family"] {
  if (addressType === "IPv4" || addressType === "IPv6" || addressType === "FQDN") return addressType;
  return "other";
}

function compareTexts(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
