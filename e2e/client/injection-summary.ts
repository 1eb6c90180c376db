/** Summarises the injection of a Pod, independently of the API server's defaults and the cluster's values. */
import type { V1Container, V1Pod } from "@kubernetes/client-node";
import { MANAGER } from "./pod-log.ts";

export type InjectionSummary = {
  readonly graceSeconds: number | undefined;
  /** The manager's flags; empty without a manager. */
  readonly flags: readonly string[];
  /** Names of containers whose preStop hook calls the manager. */
  readonly hookedContainers: readonly string[];
  /** Ports that a mesh must not redirect. */
  readonly meshPorts: readonly string[];
};

const MESH_PORTS = ["traffic.sidecar.istio.io/excludeInboundPorts", "config.linkerd.io/skip-inbound-ports"];

/** Accepts a Pod or a Pod template. */
export function summarizeInjection({ metadata, spec }: Pick<V1Pod, "metadata" | "spec">): InjectionSummary {
  const containers = spec?.containers ?? [];
  const manager = [...(spec?.initContainers ?? []), ...containers].find(({ name }) => name === MANAGER);
  return {
    // The API server's default is 30 s.
    graceSeconds: spec?.terminationGracePeriodSeconds ?? 30,
    flags: manager?.args ?? [],
    hookedContainers: containers.filter((container) => callsManager(container)).map(({ name }) => name),
    meshPorts: MESH_PORTS.flatMap((name) => {
      const ports = metadata?.annotations?.[name];
      return ports === undefined ? [] : [`${name}: ${ports}`];
    }),
  };
}

function callsManager({ lifecycle }: V1Container): boolean {
  return /^\/[0-9a-f]+\/prestop\//.test(lifecycle?.preStop?.httpGet?.path ?? "");
}
