/** Removes all fields that an injection may set, without using code of src/; the other fields must be unchanged. */
type JsonObject = { readonly [key: string]: unknown };

/** Annotations that an injection may set, those of meshes included. */
const CHANGEABLE_ANNOTATIONS: readonly string[] = [
  "lastcall.dev/status",
  "kubectl.kubernetes.io/default-container",
  "traffic.sidecar.istio.io/excludeInboundPorts",
  "config.linkerd.io/skip-inbound-ports",
];

export function protectedFieldsOf(pod: unknown): object {
  const { metadata, spec, ...rest } = asObject(pod);
  const { annotations, ...labels } = asObject(metadata);
  const { containers, initContainers, terminationGracePeriodSeconds: _, ...podFields } = asObject(spec);
  const unchanged = Object.entries(asObject(annotations)).filter(([key]) => !CHANGEABLE_ANNOTATIONS.includes(key));
  return {
    ...rest,
    metadata: { ...labels, annotations: Object.fromEntries(unchanged) },
    spec: { ...podFields, containers: protectedIn(containers), initContainers: protectedIn(initContainers) },
  };
}

function protectedIn(containers: unknown): readonly object[] {
  const list: readonly unknown[] = Array.isArray(containers) ? containers : [];
  return list
    .map(asObject)
    .filter(({ name }) => name !== "lastcall")
    .map(({ lifecycle, livenessProbe, startupProbe, ...container }) => {
      const { preStop: _, ...hooks } = asObject(lifecycle);
      return { ...container, hooks, probes: [livenessProbe, startupProbe].map(withoutGrace) };
    });
}

/** Injections set the Pod's original grace period in probes that do not set a grace period. */
function withoutGrace(probe: unknown): object {
  const { terminationGracePeriodSeconds: _, ...rest } = asObject(probe);
  return rest;
}

function asObject(value: unknown): JsonObject {
  return (value ?? {}) as JsonObject;
}
