/**
 * `lastcall drains` by port-forward through a real API server, to Pods as the chart makes them. A fake kubelet only forwards
 * ports: the programs of the Pods listen on the loopback address of this host.
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
import { at, only, render, type Values } from "./rendering.ts";

const PODS = "/api/v1/namespaces/lastcall/pods";
const ROLES = "/apis/rbac.authorization.k8s.io/v1/namespaces/lastcall";
const WEB = someDrain({ id: "a-1" });
const DB = someDrain({ id: "b-1", uid: "u-2", namespace: "data", pod: "db-0", endedAtMs: WEB.endedAtMs + 1_000 });

describe("the drains of a release, read through a real API server", () => {
  let api: ApiServer;
  const open: OpenAdmin[] = [];
  const forwards = new Set<Duplex>();
  const cleanups: (() => unknown)[] = [];

  /** A node whose kubelet serves `/portForward/NAMESPACE/POD?port=PORT`. */
  async function addNode(): Promise<void> {
    const validity = { fromMs: Date.now() - 60_000, untilMs: Date.now() + 3_600_000 };
    const authority = await makeCaPair("a kubelet's CA", validity);
    const pair = await makeServerPair(authority, { dns: ["a-node"], ip: ["127.0.0.1"] }, validity);
    const kubelet = createServer({ cert: pair.cert, key: pair.key });
    kubelet.on("upgrade", (asked, socket) => {
      forwards.add(socket);
      socket.on("close", () => forwards.delete(socket));
      serveForward(asked, socket, Number(new URL(asked.url ?? "/", "https://a-node").searchParams.get("port")));
    });
    kubelet.listen(0, "127.0.0.1");
    await once(kubelet, "listening");
    cleanups.push(() => kubelet.close());
    const Port = (kubelet.address() as AddressInfo).port;
    await api.ask("POST", "/api/v1/nodes", { metadata: { name: "a-node" } });
    const addresses = [{ type: "InternalIP", address: "127.0.0.1" }];
    const status = { addresses, daemonEndpoints: { kubeletEndpoint: { Port } } };
    expect(await api.ask("PATCH", "/api/v1/nodes/a-node/status", { status })).toMatchObject({ status: 200 });
  }

  /** Creates the Pod as the chart's Deployment would; its port forwards to `port`. */
  async function addPod(name: string, port: number, values: Values = {}): Promise<void> {
    const template = at(only(render({ ...values, relay: { adminPort: port } }), "Deployment"), "spec", "template");
    const labels = at(template, "metadata", "labels");
    const spec = { ...(at(template, "spec") as object), nodeName: "a-node" };
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { name, labels }, spec };
    expect(await api.ask("POST", PODS, pod)).toMatchObject({ status: 201 });
    const status = { phase: "Running" };
    expect(await api.ask("PATCH", `${PODS}/${name}/status`, { status })).toMatchObject({ status: 200 });
  }

  async function addReplica(name: string, drain: typeof WEB): Promise<void> {
    const ring = createDrainRing(10, () => 0);
    ring.add(drain);
    const admin = await openAdmin({ drains: ring, instance: name }, 0);
    open.push(admin);
    await addPod(name, admin.port);
  }

  /** A user with the documented rights, or without one of the resources. */
  async function personWith(name: string, resources: readonly string[]): Promise<string> {
    const metadata = { name };
    await api.ask("POST", "/api/v1/namespaces/lastcall/serviceaccounts", { metadata });
    const rules = [{ apiGroups: [""], resources, verbs: ["get", "list", "create"] }];
    await api.ask("POST", `${ROLES}/roles`, { metadata, rules });
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name };
    const subjects = [{ kind: "ServiceAccount", name, namespace: "lastcall" }];
    await api.ask("POST", `${ROLES}/rolebindings`, { metadata, roleRef, subjects });
    return api.kubeconfigOf(name);
  }

  function drains(kubeconfig: string, ...flags: readonly string[]): Promise<CommandResult> {
    return lastcall(["drains", "--kubeconfig", kubeconfig, ...flags], {}, undefined, {
      ...NO_CLUSTER,
      connect: (choice) => connectCluster(choice, { environment: {}, homeFolder: "/nonexistent" }),
    });
  }

  beforeAll(async () => {
    api = await startApiServer();
    await api.ask("POST", "/api/v1/namespaces", { metadata: { name: "lastcall" } });
    await addNode();
    await addReplica("lastcall-webhook-a", WEB);
    await addReplica("lastcall-webhook-b", DB);
  }, 600_000);
  afterAll(async () => {
    await Promise.all(open.map((admin) => admin.close()));
    for (const socket of forwards) socket.destroy();
    for (const clean of cleanups) clean();
    await api?.stop();
  });

  test("are read from all replicas with the documented permissions", async () => {
    const jane = await personWith("jane", ["pods", "pods/portforward"]);
    const { status, out, err } = await drains(jane, "--json");
    expect({ status, err }).toEqual({ status: 0, err: "" });
    expect(JSON.parse(out)).toEqual({ version: 1, drains: [DB, WEB] });
    const one = await drains(jane, "--json", "-n", "data");
    expect(JSON.parse(one.out)).toEqual({ version: 1, drains: [DB] });
  });

  test("are not readable without pods/portforward, and the message has the missing permission", async () => {
    const { status, out, err } = await drains(await personWith("joe", ["pods"]));
    expect({ status, out }).toEqual({ status: 1, out: "" });
    expect(err).toContain("lastcall/lastcall-webhook-a did not return its drains: 403, ");
    expect(err).toContain('cannot get resource "pods/portforward"');
  });

  test("can be limited to one namespace by a user with permissions only there", async () => {
    const { status, err } = await drains(await personWith("jim", []));
    expect(status).toBe(1);
    expect(err).toContain("cannot list Pods in namespace lastcall: 403, ");
    expect(err).toContain("set --lastcall-namespace");
  });

  test("are read from the other replicas if one is unreachable, with a message about that replica", async () => {
    await addPod("lastcall-webhook-c", await freePort());
    const { status, out, err } = await drains(api.kubeconfig, "--json");
    expect(status).toBe(0);
    expect(JSON.parse(out).drains).toHaveLength(2);
    expect(err).toMatch(/^warning: lastcall\/lastcall-webhook-c did not return its drains: .*ECONNREFUSED/);
  });

  test("are not readable for a release without an admin port", async () => {
    await addPod("lastcall-webhook-d", 0);
    const { err } = await drains(api.kubeconfig, "--json");
    expect(err).toContain("lastcall/lastcall-webhook-d has no port named admin");
  });
});
