/** Runs the load client as a Pod on a chosen node. */
import type { V1Pod } from "@kubernetes/client-node";
import type { RequestCounts } from "../../src/demo/load/load.ts";
import { waitUntil } from "../host/wait.ts";
import { NODE_PROGRAM } from "../images/image-table.ts";
import type { FailedRequest } from "../programs/failure-times.ts";
import type { CaseNamespace } from "./case-namespace.ts";
import { imageOf } from "./suite.ts";

export type LoadResult = RequestCounts & { readonly failures: readonly FailedRequest[] };

export type LoadOptions = {
  /** A Service's name in this namespace, or an address. */
  readonly host: string;
  readonly port: number;
  /** Additional flags of the client, for example `{pooled: 8, slow: 0}`. */
  readonly flags?: Readonly<Record<string, number | string>>;
};

export type RunningLoad = {
  /** Completes open requests and returns the counts, which are also saved as an artifact. */
  readonly stop: () => Promise<LoadResult>;
};

/** Resolves once the client runs. `host` must be an address: the cluster has no DNS. */
export async function startLoadOn(namespace: CaseNamespace, node: string, options: LoadOptions): Promise<RunningLoad> {
  const name = `load-${node}`;
  const flags = { host: options.host, port: options.port, ...options.flags };
  await namespace.apply([loadClientPod(namespace, name, node, "load-client", flags)]);
  await namespace.kubectl.run(["wait", "--for=condition=Ready", `pod/${name}`, "--timeout=60s"]);
  await waitUntil({ condition: `the load client ${name} has reached its target`, withinMs: 60_000 }, async () =>
    (await namespace.kubectl.run(["logs", name])).includes('"started"') ? true : undefined,
  );
  return {
    stop: async () => {
      return saveLoadResult(namespace, name, await stopLoadPod(namespace, name));
    },
  };
}

/** Saves the counts as an artifact, and adds the failures to the timeline. @param text the last line of the load client's output */
export function saveLoadResult(namespace: CaseNamespace, name: string, text: string): LoadResult {
  const result: LoadResult = JSON.parse(text);
  namespace.saveArtifact(`${name}.json`, `${JSON.stringify(result, null, 2)}\n`);
  for (const { at, client, kind } of result.failures)
    namespace.addTimelineLine(`${name}, ${at}: ${client} request failed: ${kind}`);
  return result;
}

/** Completes the open requests of a load client's Pod. @returns the last line of its log, which contains its counts */
export async function stopLoadPod(namespace: CaseNamespace, name: string): Promise<string> {
  const script = "process.kill(1, 'SIGTERM')";
  // The kernel kills the command with the container's other processes if the client exits first, so its status proves nothing.
  const { status, stderr } = await namespace.kubectl.attempt(["exec", name, "--", NODE_PROGRAM, "-e", script]);
  const condition = `the load client ${name} has ended; the command that signals it ended with ${status} ${stderr.trim()}`;
  await waitUntil({ condition, withinMs: 60_000 }, async () => {
    const pod = await namespace.kubectl.json<V1Pod>(["get", "pod", name]);
    return pod.status?.phase === "Succeeded" ? true : undefined;
  });
  const log = await namespace.kubectl.run(["logs", name]);
  return log.trim().split("\n").at(-1) ?? "";
}

/** Sums the counts of all clients. */
export function sumOf(results: readonly Pick<LoadResult, "requests" | "failed">[]): {
  readonly requests: number;
  readonly failed: number;
} {
  return results.reduce(
    (sum, { requests, failed }) => ({ requests: sum.requests + requests, failed: sum.failed + failed }),
    { requests: 0, failed: 0 },
  );
}

/** Returns the cluster IP of a Service of the namespace. */
export async function clusterIp(namespace: CaseNamespace, service: string): Promise<string> {
  return namespace.kubectl.run(["get", "service", service, "--output=jsonpath={.spec.clusterIP}"]);
}

/** @param program of the image of test apps, such as `load-client` */
export function loadClientPod(
  namespace: CaseNamespace,
  name: string,
  node: string,
  program: string,
  flags: Readonly<Record<string, number | string>>,
): V1Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    // The client sends the load and is not under test, so it does not get a manager.
    metadata: { name, namespace: namespace.name, labels: { "lastcall.dev/inject": "disabled", role: "load" } },
    spec: {
      nodeName: node,
      restartPolicy: "Never",
      terminationGracePeriodSeconds: 30,
      containers: [
        {
          name: "load",
          image: imageOf(namespace.suite, "lastcall-test-app"),
          imagePullPolicy: "IfNotPresent",
          args: [`/app/${program}.mjs`, ...Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`)],
          securityContext: restrictedSecurityContext(),
        },
      ],
    },
  };
}

/** Returns the security context that a restricted namespace requires of every container. */
export function restrictedSecurityContext() {
  return {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    runAsNonRoot: true,
    capabilities: { drop: ["ALL"] },
    seccompProfile: { type: "RuntimeDefault" },
  };
}
