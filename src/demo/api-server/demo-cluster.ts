/** Simulates the webhook's cluster: two namespaces, one node, and the EndpointSlices of one Service. */
import { randomBytes, randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../clock.ts";
import type { Json } from "../json.ts";
import { SERVER_VERSION, startApiServer } from "./api-server.ts";
import { createObjectStore, ENDPOINT_SLICES, NAMESPACES, NODES } from "./object-store.ts";
import { NODE_NAME } from "./slice-controller.ts";

export type DemoCluster = {
  readonly kubeconfigFile: string;
  readonly writeSlice: (slice: Json) => void;
  readonly close: () => Promise<void>;
};

type DemoClusterPorts = {
  readonly clock: Clock;
  readonly scratch: string;
  readonly namespace: string;
};

const WEBHOOK_NAMESPACE = "lastcall";

/** @throws Fault ERR_DEMO_FAILED when no port is free */
export async function startDemoCluster({ clock, scratch, namespace }: DemoClusterPorts): Promise<DemoCluster> {
  const store = createObjectStore(randomUUID);
  for (const name of new Set([WEBHOOK_NAMESPACE, namespace])) store.put(NAMESPACES, { metadata: { name } });
  const nodeInfo = { kubeletVersion: SERVER_VERSION, operatingSystem: "linux" };
  store.put(NODES, {
    metadata: { name: NODE_NAME },
    status: { nodeInfo: { ...nodeInfo, containerRuntimeVersion: "containerd://2.3.3" } },
  });
  const token = randomBytes(24).toString("hex");
  const server = await startApiServer({ clock, store, token });
  const kubeconfigFile = join(scratch, "kubeconfig.json");
  await writeFile(kubeconfigFile, kubeconfig(`http://127.0.0.1:${server.port}`, token), { mode: 0o600 });
  return { kubeconfigFile, writeSlice: (slice) => void store.put(ENDPOINT_SLICES, slice), close: server.close };
}

export function kubeconfig(server: string, token: string): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    // Without `insecure-skip-tls-verify` the client refuses plain HTTP.
    clusters: [{ name: "demo", cluster: { server, "insecure-skip-tls-verify": true } }],
    users: [{ name: "demo", user: { token } }],
    contexts: [{ name: "demo", context: { cluster: "demo", user: "demo" } }],
    "current-context": "demo",
  });
}
