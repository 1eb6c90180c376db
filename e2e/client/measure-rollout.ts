/** Rolls the proxies of a gateway under load, and records the result. */
import type { V1Pod } from "@kubernetes/client-node";
import { expect } from "vitest";
import { waitUntil } from "../host/wait.ts";
import type { LoadKind } from "../programs/gateway-load-kinds.ts";
import type { CaseNamespace } from "./case-namespace.ts";
import { isInjected } from "./create-pods.ts";
import { type Ending, hasLastcall } from "./gateway-endings.ts";
import { type GatewayTarget, startGatewayLoad } from "./gateway-load.ts";
import { type GatewayResult, gatewayResults } from "./gateway-results.ts";
import { recordLine } from "./guide-on-cluster.ts";
import type { Kubectl } from "./kubectl.ts";
import { type MeasuredProxy, observeTerminations, readResidentBytes } from "./measured-pods.ts";
import { MANAGER } from "./pod-log.ts";
import { saveDrain } from "./save-drain.ts";
import { MIN_REQUESTS } from "./under-load.ts";

export type Gateway = Pick<GatewayResult, "gateway" | "versions"> & {
  /** Name of the guide, whose picture shows one of the drains. */
  readonly guide: string;
  /** Namespace of the proxies. */
  readonly podNamespace: string;
  /** kubectl in that namespace. */
  readonly kubectl: Kubectl;
  readonly selector: string;
  /** Name of the Deployment of the proxies. */
  readonly deployment: string;
  readonly proxy: MeasuredProxy;
  /** Name of the container with the gateway's own manager, if it has one. */
  readonly ownManager?: string;
  /** Restarts other Pods at the same time, and resolves when their rollout is complete. */
  readonly restartOthers?: () => Promise<void>;
};

const MIB = 1_048_576;
const PICTURED_LOAD: LoadKind = "http1-short";

/** With lastcall, a failed request fails the case. */
export async function measureRollout(
  namespace: CaseNamespace,
  gateway: Gateway,
  ending: Ending,
  load: LoadKind,
  target: GatewayTarget,
): Promise<void> {
  const { kubectl, selector, deployment, ownManager = "" } = gateway;
  const { nodes } = namespace.suite;
  const pods = (await podsOf(gateway)).filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
  for (const pod of pods) expect(isInjected(pod), pod.metadata?.name).toBe(hasLastcall(ending));
  const stopLoad = await startGatewayLoad(namespace, load, target);
  const [ownBytes, lastcallBytes] = await Promise.all(
    [ownManager, MANAGER].map((container) => readResidentBytes(namespace.clusterKubectl, nodes, pods, container)),
  );
  const waitForTerminations = observeTerminations(namespace.suite, kubectl, gateway.proxy, pods);
  await kubectl.run(["rollout", "restart", `deployment/${deployment}`]);
  await gateway.restartOthers?.();
  await kubectl.run(["rollout", "status", `deployment/${deployment}`, "--timeout=240s"]);
  const terminations = await waitForTerminations();
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
    longestSeconds: Math.max(...terminations.map(({ seconds }) => seconds)),
    longestOverWaitSeconds: Math.max(...terminations.map(({ overWaitSeconds }) => overWaitSeconds)),
    ownManagerMiB: ownBytes === undefined ? undefined : ownBytes / MIB,
    lastcallMiB: lastcallBytes === undefined ? undefined : lastcallBytes / MIB,
  };
  gatewayResults.record(result);
  recordLine(namespace, JSON.stringify({ ...result, failures: [...new Set(counts.failures)].slice(0, 4) }));
  expect(counts.requests, load).toBeGreaterThan(load === "idle" ? 0 : MIN_REQUESTS);
  if (ending !== "lastcall") return;
  expect(counts.failed, load).toBe(0);
  if (load === PICTURED_LOAD)
    await saveDrain(namespace, gateway.guide, terminations[0]?.pod ?? "", gateway.podNamespace);
}

export async function podsOf({ kubectl, selector }: Pick<Gateway, "kubectl" | "selector">): Promise<readonly V1Pod[]> {
  const { items } = await kubectl.json<{ readonly items: readonly V1Pod[] }>(["get", "pods", `--selector=${selector}`]);
  return items;
}
