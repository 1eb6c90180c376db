/** Whether a Service still offers a Pod, from EndpointSlices alone. Pure. */

/** What is worth remembering of one endpoint of a slice. Conditions that were nil are kept as `undefined`. */
export type SliceEndpoint = {
  readonly addresses: readonly string[];
  readonly ready: boolean | undefined;
  readonly terminating: boolean | undefined;
  /** `targetRef.uid` where the target is a Pod; empty when there is none. */
  readonly targetUid: string;
};

export type Slice = {
  readonly name: string;
  /** Label `kubernetes.io/service-name`; empty: the slice belongs to no Service. */
  readonly service: string;
  readonly addressType: string;
  readonly endpoints: readonly SliceEndpoint[];
};

export type PodIdentity = {
  readonly name: string;
  readonly uid: string;
  readonly addresses: readonly string[];
};

export type Offer = {
  readonly service: string;
  readonly family: "IPv4" | "IPv6" | "FQDN" | "other";
  readonly state: "in" | "out" | "unknown";
  readonly terminating: boolean;
  readonly reason: string;
};

export type Rotation = {
  /** `in` when any offer is in; `unknown` when none is in and any is unknown; else `out`. */
  readonly state: "in" | "out" | "unknown";
  readonly terminating: boolean;
  readonly offers: readonly Offer[];
  readonly reason: string;
};

export type RotationOf = (slices: Iterable<Slice>, pod: PodIdentity) => Rotation;
