/**
 * Simulates an API server over TLS: lists Pods by label, and forwards ports to real admin servers as a kubelet does.
 *
 * @see https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/
 */
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { makeCaPair, makeServerPair } from "../../../src/authority/signing.ts";
import type { DrainRecord } from "../../../src/drain-history/drain-record.ts";
import { createDrainRing } from "../../../src/relay/drains/drain-ring.ts";
import { openAdmin } from "../../../src/relay/page/admin-server.ts";
import { refuseUpgrade, serveForward } from "../../api-server/port-forward-server.ts";

const TOKEN = "a-token";
const PODS = /^\/api\/v1(?:\/namespaces\/([^/]+))?\/pods(?:\/([^/]+)\/portforward)?$/;
const LABELS = { "app.kubernetes.io/name": "lastcall", "app.kubernetes.io/component": "webhook" };

export type FakePod = {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly uid?: string;
    readonly deletionTimestamp?: string;
    readonly ownerReferences?: readonly object[];
  };
  readonly spec: { readonly containers: readonly object[] };
  readonly status: { readonly phase: string };
};

export type Replica = {
  readonly add: (drain: DrainRecord) => void;
  /** Closes the admin port; the Pod stays listed. */
  readonly stop: () => Promise<void>;
};

export type FakeCluster = {
  readonly url: string;
  /** A kubeconfig for this server. */
  readonly kubeconfig: string;
  readonly folder: string;
  readonly pods: FakePod[];
  /** Objects and lists of other kinds, by the path of their URL. */
  readonly objects: Map<string, object>;
  /** Each request as `GET /path?query`. */
  readonly requests: string[];
  readonly permissions: {
    /** Namespaces whose Pods may be listed; `*` permits each namespace, and one list of all namespaces. */
    list: readonly string[];
    forward: boolean;
  };
  /** Adds a Pod, and serves these drains on its admin port. */
  readonly addReplica: (name: string, drains: readonly DrainRecord[], namespace?: string) => Promise<Replica>;
  /** Pods whose port-forwards do not get a response. */
  readonly unresponsivePods: Set<string>;
  readonly close: () => Promise<void>;
};

export function createWebhookPod(
  name: string,
  adminPort: number | undefined,
  namespace = "lastcall",
  phase = "Running",
): FakePod {
  const admin = adminPort === undefined ? [] : [{ name: "admin", containerPort: adminPort }];
  const ports = [{ name: "https", containerPort: 8443 }, ...admin];
  return {
    metadata: { name, namespace, labels: LABELS },
    spec: { containers: [{ name: "webhook", ports }] },
    status: { phase },
  };
}

export async function createFakeCluster(): Promise<FakeCluster> {
  const validity = { fromMs: Date.now() - 60_000, untilMs: Date.now() + 3_600_000 };
  const ca = await makeCaPair("a cluster's CA", validity);
  const pair = await makeServerPair(ca, { dns: ["kubernetes"], ip: ["127.0.0.1"] }, validity);
  const folder = mkdtempSync(join(tmpdir(), "lastcall-drains-"));
  const pods: FakePod[] = [];
  const objects = new Map<string, object>();
  const requests: string[] = [];
  const permissions: FakeCluster["permissions"] = { list: ["*"], forward: true };
  const unresponsivePods = new Set<string>();
  const stopAdmins: (() => Promise<void>)[] = [];
  const upgradedSockets = new Set<Duplex>();

  const server = createServer({ cert: pair.cert, key: pair.key }, (request, reply) => {
    requests.push(`${request.method} ${request.url}`);
    const url = new URL(request.url ?? "/", "https://kubernetes");
    const [, namespace = "", pod] = PODS.exec(url.pathname) ?? [];
    if (request.headers.authorization !== `Bearer ${TOKEN}`) status(reply, 401, "Unauthorized");
    else if (url.pathname.startsWith("/apis/")) {
      const object = objects.get(url.pathname);
      if (object === undefined) status(reply, 404, "not found");
      else sendJson(reply, 200, object);
    } else if (pod === undefined) list(namespace, url, reply);
    else if (!permissions.forward) {
      const forbiddenMessage = `pods "${pod}" is forbidden: User "jane" cannot get resource "pods/portforward"`;
      status(reply, 403, `${forbiddenMessage} in API group "" in the namespace "${namespace}"`);
    } else status(reply, 400, "Upgrade request required");
  });
  server.on("upgrade", (request, socket) => {
    requests.push(`UPGRADE ${request.url}`);
    upgradedSockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => upgradedSockets.delete(socket));
    const url = new URL(request.url ?? "/", "https://kubernetes");
    const [, , pod = ""] = PODS.exec(url.pathname) ?? [];
    if (request.headers.authorization !== `Bearer ${TOKEN}`) refuseUpgrade(socket, 401, "Unauthorized");
    else if (!permissions.forward) refuseUpgrade(socket, 403, "Forbidden");
    else if (!unresponsivePods.has(pod)) serveForward(request, socket, Number(url.searchParams.get("ports")));
  });

  const list = (namespace: string, url: URL, reply: ServerResponse): void => {
    if (!permissions.list.includes("*") && !permissions.list.includes(namespace)) {
      const where = namespace === "" ? "at the cluster scope" : `in the namespace "${namespace}"`;
      status(reply, 403, `pods is forbidden: User "jane" cannot list resource "pods" in API group "" ${where}`);
      return;
    }
    const selectedLabels = (url.searchParams.get("labelSelector") ?? "").split(",").map((part) => part.split("="));
    const items = pods.filter(
      ({ metadata }) =>
        (namespace === "" || metadata.namespace === namespace) &&
        selectedLabels.every(([key = "", value]) => metadata.labels[key] === value),
    );
    sendJson(reply, 200, { kind: "PodList", metadata: {}, items });
  };

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const kubeconfig = join(folder, "kubeconfig.yaml");
  writeFileSync(kubeconfig, kubeconfigFor(url, ca.cert));

  return {
    url,
    kubeconfig,
    folder,
    pods,
    objects,
    requests,
    permissions,
    unresponsivePods,
    addReplica: async (name, drains, namespace = "lastcall") => {
      const ring = createDrainRing(100, () => 0);
      for (const drain of drains) ring.add(drain);
      const admin = await openAdmin({ drains: ring, instance: name }, 0);
      let isOpen = true;
      const stop = async (): Promise<void> => {
        if (isOpen) await admin.close();
        isOpen = false;
      };
      stopAdmins.push(stop);
      pods.push(createWebhookPod(name, admin.port, namespace));
      return { add: (drain) => void ring.add(drain), stop };
    },
    close: async () => {
      const closing = once(server, "close");
      server.close();
      server.closeAllConnections();
      for (const socket of upgradedSockets) socket.destroy();
      await Promise.all([closing, ...stopAdmins.map((stop) => stop())]);
      rmSync(folder, { recursive: true });
    },
  };
}

/** Returns a kubeconfig with a valid context `here`, a context with a wrong token, and a context without a cluster. */
export function kubeconfigFor(url: string, ca: string, currentContext = "here"): string {
  return `apiVersion: v1
kind: Config
clusters:
- {name: c, cluster: {server: "${url}", certificate-authority-data: ${Buffer.from(ca).toString("base64")}}}
users:
- {name: u, user: {token: ${TOKEN}}}
- {name: other, user: {token: wrong}}
contexts:
- {name: here, context: {cluster: c, user: u}}
- {name: other, context: {cluster: c, user: other}}
- {name: nowhere, context: {cluster: gone, user: u}}
current-context: ${currentContext}
`;
}

function status(reply: ServerResponse, code: number, message: string): void {
  sendJson(reply, code, { kind: "Status", apiVersion: "v1", status: "Failure", message, code });
}

function sendJson(reply: ServerResponse, code: number, body: object): void {
  reply.writeHead(code, { "content-type": "application/json" }).end(JSON.stringify(body));
}
