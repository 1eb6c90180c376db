/** Types of a Pod's endpoint state: whether a Service still has the Pod as a ready endpoint. */

export type SliceEndpoint = {
  readonly addresses: readonly string[];
  readonly ready: boolean | undefined;
  readonly terminating: boolean | undefined;
  /** `targetRef.uid`; empty unless the target is a Pod. */
  readonly targetUid: string;
};

export type Slice = {
  readonly name: string;
  /** Label `kubernetes.io/service-name`; empty if the slice does not belong to a Service. */
  readonly service: string;
  readonly addressType: string;
  readonly endpoints: readonly SliceEndpoint[];
};

export type PodIdentity = {
  readonly name: string;
  readonly uid: string;
  readonly addresses: readonly string[];
};

export type ServiceEndpointStatus = {
  readonly service: string;
  readonly family: "IPv4" | "IPv6" | "FQDN" | "other";
  readonly state: "in" | "out" | "unknown";
  readonly terminating: boolean;
  readonly reason: string;
};

export type EndpointStatus = {
  /** `in` if the state of any Service is `in`, else `unknown` if any is `unknown`, else `out`. */
  readonly state: "in" | "out" | "unknown";
  readonly terminating: boolean;
  readonly services: readonly ServiceEndpointStatus[];
  readonly reason: string;
};

export type ComputeEndpointStatus = (slices: Iterable<Slice>, pod: PodIdentity) => EndpointStatus;
