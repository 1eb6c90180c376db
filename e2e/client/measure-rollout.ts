/** Rolls the Envoys of a gateway under load, and records the result. */
import type { V1Pod } from "@kubernetes/client-node";
import { expect } from "vitest";
import { waitUntil } from "../host/wait.ts";
import type { GatewayCounts, LoadKind } from "../programs/gateway-load-kinds.ts";
import type { CaseNamespace } from "./case-namespace.ts";
import { isInjected } from "./create-pods.ts";
import { type GatewayTarget, startGatewayLoad } from "./gateway-load.ts";
import { type Ending, type GatewayResult, recordGatewayResult } from "./gateway-results.ts";
import { report } from "./guide-on-cluster.ts";
import type { Kubectl } from "./kubectl.ts";
import { observeTerminations, residentBytes } from "./measured-pods.ts";
import { MANAGER } from "./pod-log.ts";

export type Gateway = Pick<GatewayResult, "gateway" | "versions"> & {
  /** kubectl in the namespace of the Envoys. */
  readonly kubectl: Kubectl;
  readonly selector: string;
  /** Name of the Deployment of the Envoys. */
  readonly deployment: string;
  /** Name of the container with the gateway's own manager. */
  readonly ownManager: string;
};

const MIB = 1_048_576;

export async function measureRollout(
  namespace: CaseNamespace,
  gateway: Gateway,
  ending: Ending,
  load: LoadKind,
  target: GatewayTarget,
): Promise<GatewayCounts & { readonly pods: readonly string[] }> {
  const { kubectl, selector, deployment, ownManager } = gateway;
  const { nodes } = namespace.suite;
  const pods = (await podsOf(gateway)).filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
  for (const pod of pods) expect(isInjected(pod), pod.metadata?.name).toBe(ending === "lastcall" || ending === "both");
  const stopLoad = await startGatewayLoad(namespace, load, target);
  const [ownBytes, lastcallBytes] = await Promise.all(
    [ownManager, MANAGER].map((container) => residentBytes(namespace.clusterKubectl, nodes, pods, container)),
  );
  const terminations = observeTerminations(namespace.suite, kubectl, pods);
  await kubectl.run(["rollout", "restart", `deployment/${deployment}`]);
  await kubectl.run(["rollout", "status", `deployment/${deployment}`, "--timeout=240s"]);
  const ended = await terminations();
  await waitUntil(
    { condition: `the replaced Pods with ${selector} are deleted`, withinMs: 120_000, everyMs: 500 },
    async () => ((await podsOf(gateway)).length === pods.length ? true : undefined),
  );
  const counts = await stopLoad();
  const result: GatewayResult = {
    gateway: gateway.gateway,
    versions: gateway.versions,
    date: new Date().toISOString().slice(0, 10),
    ending,
    load,
    requests: counts.requests,
    failed: counts.failed,
    longestSeconds: Math.max(...ended.map(({ seconds }) => seconds)),
    longestOverWaitSeconds: Math.max(...ended.map(({ overWaitSeconds }) => overWaitSeconds)),
    ownMiB: ownBytes === undefined ? undefined : ownBytes / MIB,
    lastcallMiB: lastcallBytes === undefined ? undefined : lastcallBytes / MIB,
  };
  recordGatewayResult(result);
  report(namespace, JSON.stringify({ ...result, failures: [...new Set(counts.failures)].slice(0, 4) }));
  return { ...counts, pods: ended.map(({ pod }) => pod) };
}

export async function podsOf({ kubectl, selector }: Pick<Gateway, "kubectl" | "selector">): Promise<readonly V1Pod[]> {
  const { items } = await kubectl.json<{ readonly items: readonly V1Pod[] }>(["get", "pods", `--selector=${selector}`]);
  return items;
}

export function kubectlIn(kubectl: Kubectl, namespace: string): Kubectl {
  const withNamespace = (args: readonly string[]) => ["--namespace", namespace, ...args];
  return {
    run: (args, input) => kubectl.run(withNamespace(args), input),
    attempt: (args, input) => kubectl.attempt(withNamespace(args), input),
    json: (args, input) => kubectl.json(withNamespace(args), input),
    follow: (args, onLine) => kubectl.follow(withNamespace(args), onLine),
  };
}
