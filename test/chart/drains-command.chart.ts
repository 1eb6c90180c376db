/**
 * Tests `lastcall drains` by port-forward through a real API server, to Pods from the chart's Deployment. A fake kubelet only
 * forwards ports: the programs of the Pods listen on the loopback address of this host.
 */
import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeCaPair, makeServerPair } from "../../src/authority/signing.ts";
import { connectCluster } from "../../src/cli/cluster-connection.ts";
import { createDrainRing } from "../../src/relay/drains/drain-ring.ts";
import { type OpenAdmin, openAdmin } from "../../src/relay/page/admin-server.ts";
import { serveForward } from "../api-server/port-forward-server.ts";
import { type CommandResult, lastcall, NO_CLUSTER } from "../cli/run-lastcall.ts";
import { someDrain } from "../drain-history/some-drain.ts";
import { type ApiServer, freePort, startApiServer } from "./api-server.ts";
import { at, onlyOfKind, render, type Values } from "./rendering.ts";

const PODS = "/api/v1/namespaces/lastcall/pods";
const ROLES = "/apis/rbac.authorization.k8s.io/v1/namespaces/lastcall";
const WEB_DRAIN = someDrain({ id: "a-1" });
const DB_DRAIN = someDrain({
  id: "b-1",
  uid: "u-2",
  namespace: "data",
  pod: "db-0",
  endedAtMs: WEB_DRAIN.endedAtMs + 1_000,
});

describe("the drains of a release, read through a real API server", () => {
  let api: ApiServer;
  const adminServers: OpenAdmin[] = [];
  const forwardSockets = new Set<Duplex>();
  const cleanups: (() => unknown)[] = [];

  /** Adds a node whose kubelet serves `/portForward/NAMESPACE/POD?port=PORT`. */
  async function addNode(): Promise<void> {
    const validity = { fromMs: Date.now() - 60_000, untilMs: Date.now() + 3_600_000 };
    const ca = await makeCaPair("a kubelet's CA", validity);
    const pair = await makeServerPair(ca, { dns: ["a-node"], ip: ["127.0.0.1"] }, validity);
    const kubelet = createServer({ cert: pair.cert, key: pair.key });
    kubelet.on("upgrade", (request, socket) => {
      forwardSockets.add(socket);
      socket.on("close", () => forwardSockets.delete(socket));
      serveForward(request, socket, Number(new URL(request.url ?? "/", "https://a-node").searchParams.get("port")));
    });
    kubelet.listen(0, "127.0.0.1");
    await once(kubelet, "listening");
    cleanups.push(() => kubelet.close());
    const Port = (kubelet.address() as AddressInfo).port;
    await api.send("POST", "/api/v1/nodes", { metadata: { name: "a-node" } });
    const addresses = [{ type: "InternalIP", address: "127.0.0.1" }];
    const status = { addresses, daemonEndpoints: { kubeletEndpoint: { Port } } };
    expect(await api.send("PATCH", "/api/v1/nodes/a-node/status", { status })).toMatchObject({ status: 200 });
  }

  /** Creates the Pod as the chart's Deployment would; its port forwards to `port`. */
  async function addPod(name: string, port: number, values: Values = {}): Promise<void> {
    const template = at(
      onlyOfKind(render({ ...values, relay: { adminPort: port } }), "Deployment"),
      "spec",
      "template",
    );
    const labels = at(template, "metadata", "labels");
    const spec = { ...(at(template, "spec") as object), nodeName: "a-node" };
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { name, labels }, spec };
    expect(await api.send("POST", PODS, pod)).toMatchObject({ status: 201 });
    const status = { phase: "Running" };
    expect(await api.send("PATCH", `${PODS}/${name}/status`, { status })).toMatchObject({ status: 200 });
  }

  async function addReplica(name: string, drain: typeof WEB_DRAIN): Promise<void> {
    const ring = createDrainRing(10, () => 0);
    ring.add(drain);
    const admin = await openAdmin({ drains: ring, instance: name }, 0);
    adminServers.push(admin);
    await addPod(name, admin.port);
  }

  /** Creates an account that may get, list and create only these resources, and returns its kubeconfig. */
  async function addAccount(name: string, resources: readonly string[]): Promise<string> {
    const metadata = { name };
    await api.send("POST", "/api/v1/namespaces/lastcall/serviceaccounts", { metadata });
    const rules = [{ apiGroups: [""], resources, verbs: ["get", "list", "create"] }];
    await api.send("POST", `${ROLES}/roles`, { metadata, rules });
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name };
    const subjects = [{ kind: "ServiceAccount", name, namespace: "lastcall" }];
    await api.send("POST", `${ROLES}/rolebindings`, { metadata, roleRef, subjects });
    return api.kubeconfigOf(name);
  }

  function runDrains(kubeconfig: string, ...flags: readonly string[]): Promise<CommandResult> {
    return lastcall(["drains", "--kubeconfig", kubeconfig, ...flags], {}, undefined, {
      ...NO_CLUSTER,
      connect: (choice) => connectCluster(choice, { environment: {}, homeFolder: "/nonexistent" }),
    });
  }

  beforeAll(async () => {
    api = await startApiServer();
    await api.send("POST", "/api/v1/namespaces", { metadata: { name: "lastcall" } });
    await addNode();
    await addReplica("lastcall-webhook-a", WEB_DRAIN);
    await addReplica("lastcall-webhook-b", DB_DRAIN);
  }, 600_000);
  afterAll(async () => {
    await Promise.all(adminServers.map((admin) => admin.close()));
    for (const socket of forwardSockets) socket.destroy();
    for (const cleanUp of cleanups) cleanUp();
    await api?.stop();
  });

  test("are read from all replicas with the documented permissions", async () => {
    const kubeconfig = await addAccount("jane", ["pods", "pods/portforward"]);
    const { status, out, err } = await runDrains(kubeconfig, "--json");
    expect({ status, err }).toEqual({ status: 0, err: "" });
    expect(JSON.parse(out)).toEqual({ version: 1, drains: [DB_DRAIN, WEB_DRAIN] });
    const dataResult = await runDrains(kubeconfig, "--json", "-n", "data");
    expect(JSON.parse(dataResult.out)).toEqual({ version: 1, drains: [DB_DRAIN] });
  });

  test("are not readable without pods/portforward, and the message names the missing permission", async () => {
    const { status, out, err } = await runDrains(await addAccount("joe", ["pods"]));
    expect({ status, out }).toEqual({ status: 1, out: "" });
    expect(err).toContain("lastcall/lastcall-webhook-a did not return its drains: 403, ");
    expect(err).toContain('cannot get resource "pods/portforward"');
  });

  test("are not readable without permissions in lastcall's namespace, and the message names the flag for another namespace", async () => {
    const { status, err } = await runDrains(await addAccount("jim", []));
    expect(status).toBe(1);
    expect(err).toContain("cannot list Pods in namespace lastcall: 403, ");
    expect(err).toContain("set --lastcall-namespace");
  });

  test("are read from the other replicas if one is unreachable, with a message about that replica", async () => {
    await addPod("lastcall-webhook-c", await freePort());
    const { status, out, err } = await runDrains(api.kubeconfig, "--json");
    expect(status).toBe(0);
    expect(JSON.parse(out).drains).toHaveLength(2);
    expect(err).toMatch(/^warning: lastcall\/lastcall-webhook-c did not return its drains: .*ECONNREFUSED/);
  });

  test("are not readable for a release without an admin port", async () => {
    await addPod("lastcall-webhook-d", 0);
    const { err } = await runDrains(api.kubeconfig, "--json");
    expect(err).toContain("lastcall/lastcall-webhook-d has no port named admin");
  });
});
