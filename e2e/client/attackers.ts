/** Runs attackers as Pods of their own namespace, without permissions. */
import type { V1Pod } from "@kubernetes/client-node";
import { type AttackCounts, type AttackerLine, CONTROL_PORT, sumOfCounts } from "../programs/attack-counts.ts";
import type { CaseNamespace } from "./case-namespace.ts";
import { restrictedSecurityContext } from "./load.ts";
import { imageOf } from "./suite.ts";

export type AttackPlan = {
  readonly name: string;
  readonly target: "manager" | "webhook";
  readonly port: number;
  readonly attackersPerNode: number;
  /** The attackers exit after this time. */
  readonly seconds: number;
};

export type Attackers = {
  /** Sets the attacked addresses. */
  readonly setTargets: (addresses: readonly string[]) => Promise<void>;
  /** Returns the sums of all attackers' counts, by attack; at most a second old. */
  readonly readCounts: () => Promise<AttackCounts>;
};

/** Starts attackers, each with its own address, and resolves once they are ready. They attack only after the first `setTargets`. */
export async function startAttackers(namespace: CaseNamespace, plan: AttackPlan): Promise<Attackers> {
  const pods = namespace.suite.nodes.flatMap((node) =>
    Array.from({ length: plan.attackersPerNode }, (_, n) =>
      attackerPod(namespace, `${plan.name}-${node}-${n}`, node, plan),
    ),
  );
  await namespace.apply(pods);
  const names = pods.map(({ metadata }) => metadata?.name ?? "");
  await namespace.kubectl.run([
    "wait",
    "--for=condition=Ready",
    "--timeout=60s",
    ...names.map((name) => `pod/${name}`),
  ]);
  // Uses the API server's proxy, which works on any cluster.
  const controlPath = (name: string) => `/api/v1/namespaces/${namespace.name}/pods/${name}:${CONTROL_PORT}/proxy/`;
  return {
    setTargets: async (addresses) => {
      const list = JSON.stringify(addresses);
      await Promise.all(
        names.map((name) => namespace.clusterKubectl.run(["create", "--raw", controlPath(name), "--filename=-"], list)),
      );
    },
    readCounts: async () => {
      const logs = await Promise.all(names.map((name) => namespace.kubectl.run(["logs", name, "--tail=1"])));
      return sumOfCounts(logs.map((log): AttackCounts => (JSON.parse(log) as AttackerLine).counts));
    },
  };
}

export function connectionsOf(counts: AttackCounts): number {
  return Object.values(counts).reduce((sum, { connected }) => sum + connected, 0);
}

function attackerPod(namespace: CaseNamespace, name: string, node: string, plan: AttackPlan): V1Pod {
  const args = [`--on=${plan.target}`, `--port=${plan.port}`, `--seconds=${plan.seconds}`];
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: namespace.name, labels: { attacks: plan.target } },
    spec: {
      nodeName: node,
      restartPolicy: "Never",
      terminationGracePeriodSeconds: 1,
      automountServiceAccountToken: false,
      containers: [
        {
          name: "attacker",
          image: imageOf(namespace.suite, "lastcall-test-app"),
          imagePullPolicy: "IfNotPresent",
          args: ["/app/attacker.mjs", ...args],
          // All attackers together use at most one core of the shared host.
          resources: { requests: { cpu: "10m", memory: "32Mi" }, limits: { cpu: "150m", memory: "1Gi" } },
          readinessProbe: { httpGet: { path: "/", port: CONTROL_PORT }, periodSeconds: 1 },
          securityContext: restrictedSecurityContext(),
        },
      ],
    },
  };
}
