/** The parts of a Pod that no injection may touch, said without the program's own words for it. */
type Loose = { readonly [key: string]: unknown };

/** What an injection may set, and what belongs to a mesh that has to keep off the manager's port. */
const MAY_CHANGE: readonly string[] = [
  "lastcall.dev/status",
  "kubectl.kubernetes.io/default-container",
  "traffic.sidecar.istio.io/excludeInboundPorts",
  "config.linkerd.io/skip-inbound-ports",
];

export function untouchable(pod: unknown): object {
  const { metadata, spec, ...rest } = loose(pod);
  const { annotations, ...labels } = loose(metadata);
  const { containers, initContainers, terminationGracePeriodSeconds: _, ...podWide } = loose(spec);
  const kept = Object.entries(loose(annotations)).filter(([key]) => !MAY_CHANGE.includes(key));
  return {
    ...rest,
    metadata: { ...labels, annotations: Object.fromEntries(kept) },
    spec: { ...podWide, containers: untouchableIn(containers), initContainers: untouchableIn(initContainers) },
  };
}

function untouchableIn(containers: unknown): readonly object[] {
  const given: readonly unknown[] = Array.isArray(containers) ? containers : [];
  return given
    .map(loose)
    .filter(({ name }) => name !== "lastcall")
    .map(({ lifecycle, livenessProbe, startupProbe, ...container }) => {
      const { preStop: _, ...hooks } = loose(lifecycle);
      return { ...container, hooks, probes: [livenessProbe, startupProbe].map(withoutGrace) };
    });
}

/** A probe without a grace period of its own gets the one that the Pod had. */
function withoutGrace(probe: unknown): object {
  const { terminationGracePeriodSeconds: _, ...rest } = loose(probe);
  return rest;
}

function loose(value: unknown): Loose {
  return (value ?? {}) as Loose;
}
