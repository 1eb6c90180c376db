/** Endpoints of a Service as the EndpointSlice controller writes them. Pure. */
import type { Endpoint } from "../network/service-endpoints.ts";
import type { PodIdentity } from "../pods/pod-runner.ts";

export type SlicedService = { readonly namespace: string; readonly name: string; readonly port: number };

type SlicedEndpoint = { readonly endpoint: Endpoint; readonly pod: PodIdentity };

/** The one node of the demo. */
export const NODE_NAME = "this-machine";

/** One slice is enough: a real controller begins a second one at 100 endpoints. */
export function sliceOf(
  service: SlicedService,
  endpoints: readonly SlicedEndpoint[],
): Readonly<Record<string, unknown>> {
  const { namespace, name } = service;
  return {
    metadata: {
      name: sliceName(service),
      generateName: `${name}-`,
      namespace,
      labels: {
        "kubernetes.io/service-name": name,
        "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
      },
      ownerReferences: [{ apiVersion: "v1", kind: "Service", name, controller: true, blockOwnerDeletion: true }],
    },
    addressType: "IPv4",
    endpoints: endpoints.map(({ endpoint, pod }) => ({
      addresses: [endpoint.address],
      conditions: {
        ready: isOffered(endpoint),
        serving: endpoint.serving,
        terminating: endpoint.terminating,
      },
      nodeName: NODE_NAME,
      targetRef: { kind: "Pod", namespace, name: pod.name, uid: pod.uid },
    })),
    ports: [{ name: "", port: service.port, protocol: "TCP" }],
  };
}

/** As the condition `ready`: a Pod that terminates is not, whatever its probes say. */
export function isOffered(endpoint: Endpoint): boolean {
  return endpoint.serving && !endpoint.terminating;
}

function sliceName({ name }: Pick<SlicedService, "name">): string {
  return `${name}-x7k2q`;
}
