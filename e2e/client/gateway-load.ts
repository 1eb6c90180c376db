/** Runs the load on a gateway in a Pod of each node. */
import { waitUntil } from "../host/wait.ts";
import { type GatewayCounts, isLoadKind, LOAD_KINDS, type LoadKind } from "../programs/gateway-load-kinds.ts";
import type { CaseNamespace } from "./case-namespace.ts";
import { loadClientPod, stopLoadPod, sumOf } from "./load.ts";
import type { Suite } from "./suite.ts";

/** Returns the kinds of load that the suite measures. @param unsupported kinds that the gateway cannot forward */
export function loadsOf({ loads }: Suite, unsupported: readonly LoadKind[] = []): readonly LoadKind[] {
  const kinds = loads ?? Object.keys(LOAD_KINDS).filter(isLoadKind);
  return kinds.filter((kind) => !unsupported.includes(kind));
}

export type GatewayTarget = { readonly host: string; readonly port: number };

/** @returns a function that completes open requests and returns the sum of both nodes' counts */
export async function startGatewayLoad(
  namespace: CaseNamespace,
  kind: LoadKind,
  target: GatewayTarget,
): Promise<() => Promise<GatewayCounts>> {
  const names = namespace.suite.nodes.map((node) => `load-${kind}-${node}`);
  await namespace.apply(
    namespace.suite.nodes.map((node, index) =>
      loadClientPod(namespace, names[index] ?? "", node, "gateway-load", { kind, ...target }),
    ),
  );
  for (const name of names)
    await waitUntil({ condition: `the load ${name} has started`, withinMs: 60_000 }, async () =>
      (await namespace.kubectl.attempt(["logs", name])).output.includes('"started"') ? true : undefined,
    );
  return async () => {
    const counts: readonly GatewayCounts[] = await Promise.all(
      names.map(async (name) => JSON.parse(await stopLoadPod(namespace, name))),
    );
    await namespace.kubectl.run(["delete", "pods", ...names, "--grace-period=1", "--wait=true"]);
    return { ...sumOf(counts), failures: counts.flatMap(({ failures }) => failures) };
  };
}
