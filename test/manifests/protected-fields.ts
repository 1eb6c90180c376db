/** Removes everything that an injection may set, independently of the source; the rest must be unchanged. */
type Loose = { readonly [key: string]: unknown };

/** Annotations that an injection may set, those of meshes included. */
const MAY_CHANGE: readonly string[] = [
  "lastcall.dev/status",
  "kubectl.kubernetes.io/default-container",
  "traffic.sidecar.istio.io/excludeInboundPorts",
  "config.linkerd.io/skip-inbound-ports",
];

export function protectedFieldsOf(pod: unknown): object {
  const { metadata, spec, ...rest } = loose(pod);
  const { annotations, ...labels } = loose(metadata);
  const { containers, initContainers, terminationGracePeriodSeconds: _, ...podWide } = loose(spec);
  const kept = Object.entries(loose(annotations)).filter(([key]) => !MAY_CHANGE.includes(key));
  return {
    ...rest,
    metadata: { ...labels, annotations: Object.fromEntries(kept) },
    spec: { ...podWide, containers: protectedIn(containers), initContainers: protectedIn(initContainers) },
  };
}

function protectedIn(containers: unknown): readonly object[] {
  const given: readonly unknown[] = Array.isArray(containers) ? containers : [];
  return given
    .map(loose)
    .filter(({ name }) => name !== "lastcall")
    .map(({ lifecycle, livenessProbe, startupProbe, ...container }) => {
      const { preStop: _, ...hooks } = loose(lifecycle);
      return { ...container, hooks, probes: [livenessProbe, startupProbe].map(withoutGrace) };
    });
}

/** A probe without its own grace period gets the Pod's original one. */
function withoutGrace(probe: unknown): object {
  const { terminationGracePeriodSeconds: _, ...rest } = loose(probe);
  return rest;
}

function loose(value: unknown): Loose {
  return (value ?? {}) as Loose;
}
