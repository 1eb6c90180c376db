/** What a Service's endpoints look like to a proxy, and which of them it uses. Pure. */

export type Endpoint = {
  readonly address: string;
  /** The Pod's readiness. */
  readonly serving: boolean;
  readonly terminating: boolean;
};

export type EndpointChange = Endpoint | { readonly address: string; readonly gone: true };

export function applyChange(endpoints: readonly Endpoint[], change: EndpointChange): readonly Endpoint[] {
  const others = endpoints.filter((endpoint) => endpoint.address !== change.address);
  return "gone" in change ? others : [...others, change];
}

/** Ready endpoints; where there is none, those that end but still serve. As kube-proxy since Kubernetes 1.26. */
export function usableEndpoints(endpoints: readonly Endpoint[]): readonly Endpoint[] {
  const serving = endpoints.filter((endpoint) => endpoint.serving);
  const ready = serving.filter((endpoint) => !endpoint.terminating);
  return ready.length > 0 ? ready : serving;
}
