/** Creates a Service without a selector; the case updates its EndpointSlice, so that the withdrawal can be arbitrarily late. */
import type { V1EndpointConditions, V1EndpointSlice, V1Pod, V1Service } from "@kubernetes/client-node";
import type { CaseNamespace } from "./case-namespace.ts";
import { nameOf } from "./injected-pods.ts";
import { APP_PORT } from "./sample-app.ts";

export type ManualSlice = {
  /** Sets the conditions of the only endpoint. */
  readonly setConditions: (conditions: V1EndpointConditions) => Promise<void>;
};

/** Creates the Service and its slice, with the Pod as a ready endpoint. */
export async function createManualSlice(namespace: CaseNamespace, service: string, pod: V1Pod): Promise<ManualSlice> {
  const setConditions = (conditions: V1EndpointConditions) =>
    namespace.apply([serviceOf(namespace, service), sliceOf(namespace, service, { pod, conditions })]);
  await setConditions({ ready: true, serving: true, terminating: false });
  return { setConditions };
}

function serviceOf(namespace: CaseNamespace, name: string): V1Service {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, namespace: namespace.name },
    spec: { ports: [{ port: 80, targetPort: APP_PORT }] },
  };
}

type EndpointState = { readonly pod: V1Pod; readonly conditions: V1EndpointConditions };

function sliceOf(namespace: CaseNamespace, service: string, { pod, conditions }: EndpointState): V1EndpointSlice {
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: {
      name: service,
      namespace: namespace.name,
      labels: {
        "kubernetes.io/service-name": service,
        "endpointslice.kubernetes.io/managed-by": "cases.lastcall.dev",
      },
    },
    addressType: "IPv4",
    ports: [{ port: APP_PORT, protocol: "TCP", name: "" }],
    endpoints: [
      {
        addresses: [pod.status?.podIP ?? ""],
        conditions,
        targetRef: { kind: "Pod", name: nameOf(pod), namespace: namespace.name, uid: pod.metadata?.uid ?? "" },
      },
    ],
  };
}
