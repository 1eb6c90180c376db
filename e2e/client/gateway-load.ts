/** Runs the load on a gateway in a Pod of each node. */
import type { V1Pod } from "@kubernetes/client-node";
import { waitUntil } from "../host/wait.ts";
import type { GatewayCounts, LoadKind } from "../programs/gateway-load-kinds.ts";
import type { CaseNamespace } from "./case-namespace.ts";
import { restrictedSecurityContext } from "./load.ts";
import { imageOf } from "./suite.ts";

export type GatewayTarget = { readonly host: string; readonly port: number };

/** @returns a function that completes open requests and returns the sum of both nodes' counts */
export async function startGatewayLoad(
  namespace: CaseNamespace,
  kind: LoadKind,
  target: GatewayTarget,
): Promise<() => Promise<GatewayCounts>> {
  const names = namespace.suite.nodes.map((node) => `load-${kind}-${node}`);
  await namespace.apply(
    namespace.suite.nodes.map((node, index) => loadPod(namespace, names[index] ?? "", node, { kind, ...target })),
  );
  for (const name of names)
    await waitUntil({ condition: `the load ${name} has started`, withinMs: 60_000 }, async () =>
      (await namespace.kubectl.attempt(["logs", name])).output.includes('"started"') ? true : undefined,
    );
  return async () => {
    const counts = await Promise.all(names.map((name) => stop(namespace, name)));
    await namespace.kubectl.run(["delete", "pods", ...names, "--grace-period=1", "--wait=true"]);
    return {
      requests: counts.reduce((sum, { requests }) => sum + requests, 0),
      failed: counts.reduce((sum, { failed }) => sum + failed, 0),
      failures: counts.flatMap(({ failures }) => failures),
    };
  };
}

async function stop(namespace: CaseNamespace, name: string): Promise<GatewayCounts> {
  const script = "process.kill(1, 'SIGTERM')";
  await namespace.kubectl.run(["exec", name, "--", "/usr/local/bin/node", "-e", script]);
  await waitUntil({ condition: `the load ${name} has ended`, withinMs: 60_000 }, async () => {
    const pod = await namespace.kubectl.json<V1Pod>(["get", "pod", name]);
    return pod.status?.phase === "Succeeded" ? true : undefined;
  });
  const log = await namespace.kubectl.run(["logs", name]);
  return JSON.parse(log.trim().split("\n").at(-1) ?? "");
}

type LoadFlags = GatewayTarget & { readonly kind: LoadKind };

function loadPod(namespace: CaseNamespace, name: string, node: string, { kind, host, port }: LoadFlags): V1Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: namespace.name, labels: { "lastcall.dev/inject": "disabled", role: "load" } },
    spec: {
      nodeName: node,
      restartPolicy: "Never",
      containers: [
        {
          name: "load",
          image: imageOf(namespace.suite, "lastcall-test-app"),
          imagePullPolicy: "IfNotPresent",
          args: ["/app/gateway-load.mjs", `--kind=${kind}`, `--host=${host}`, `--port=${port}`],
          securityContext: restrictedSecurityContext(),
        },
      ],
    },
  };
}
