/** The cluster that the demo's webhook sees: two namespaces, one node, and the slices of one Service. */
import { randomBytes, randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../clock.ts";
import { SERVER_VERSION } from "./api-answer.ts";
import { ENDPOINT_SLICES, NAMESPACES, NODES } from "./api-resources.ts";
import { startApiServer } from "./api-server.ts";
import { NODE_NAME } from "./endpoint-slice.ts";
import { createObjectStore } from "./object-store.ts";

export type DemoCluster = {
  /** How the webhook finds the API server, and as whom. */
  readonly kubeconfigFile: string;
  readonly writeSlice: (slice: Readonly<Record<string, unknown>>) => void;
  readonly close: () => Promise<void>;
};

type DemoClusterPorts = {
  readonly clock: Clock;
  /** A folder that is removed at the end. */
  readonly scratch: string;
  /** Where the Pods are. */
  readonly namespace: string;
};

/** Where the webhook keeps its own objects. */
const WEBHOOK_NAMESPACE = "lastcall";

/** @throws Fault ERR_DEMO_FAILED when no port can be had */
export async function startDemoCluster(ports: DemoClusterPorts): Promise<DemoCluster> {
  const store = createObjectStore(randomUUID);
  for (const name of new Set([WEBHOOK_NAMESPACE, ports.namespace])) store.put(NAMESPACES, { metadata: { name } });
  store.put(NODES, {
    metadata: { name: NODE_NAME },
    status: {
      nodeInfo: {
        kubeletVersion: SERVER_VERSION,
        operatingSystem: "linux",
        containerRuntimeVersion: "containerd://2.3.3",
      },
    },
  });
  const token = randomBytes(24).toString("hex");
  const server = await startApiServer({ clock: ports.clock, store, token });
  const kubeconfigFile = join(ports.scratch, "kubeconfig.json");
  await writeFile(kubeconfigFile, kubeconfig(`http://127.0.0.1:${server.port}`, token), { mode: 0o600 });
  return {
    kubeconfigFile,
    writeSlice: (slice) => void store.put(ENDPOINT_SLICES, slice),
    close: server.close,
  };
}

/** JSON is YAML too. */
export function kubeconfig(server: string, token: string): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    // There is no TLS to verify on this machine's own loopback; the client wants to be told.
    clusters: [{ name: "demo", cluster: { server, "insecure-skip-tls-verify": true } }],
    users: [{ name: "demo", user: { token } }],
    contexts: [{ name: "demo", context: { cluster: "demo", user: "demo" } }],
    "current-context": "demo",
  });
}
