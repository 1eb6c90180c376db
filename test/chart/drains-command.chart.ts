/**
 * `lastcall drains` through the Pod proxy of a real API server, to Pods as the chart makes them. There is no kubelet:
 * what would run in them listens on an address of this machine.
 */
import { networkInterfaces } from "node:os";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connectCluster } from "../../src/cli/cluster-connection.ts";
import { createDrainRing } from "../../src/relay/drains/drain-ring.ts";
import { type OpenAdmin, openAdmin } from "../../src/relay/page/admin-runner.ts";
import { lastcall, NO_CLUSTER, type Ran } from "../cli/run-lastcall.ts";
import { someDrain } from "../drain-history/some-drain.ts";
import { type ApiServer, freePort, startApiServer } from "./api-server.ts";
import { at, only, render, type Values } from "./rendering.ts";

/** An API server refuses to call loopback addresses. */
const ADDRESS = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ family, internal }) => family === "IPv4" && !internal)?.address;

const PODS = "/api/v1/namespaces/lastcall/pods";
const ROLES = "/apis/rbac.authorization.k8s.io/v1/namespaces/lastcall";
const WEB = someDrain({ id: "a-1" });
const DB = someDrain({ id: "b-1", uid: "u-2", namespace: "data", pod: "db-0", endedAtMs: WEB.endedAtMs + 1_000 });

describe.skipIf(ADDRESS === undefined)("the drains of a release, read through a real API server", () => {
  let api: ApiServer;
  const open: OpenAdmin[] = [];

  /** As the chart's Deployment would make it; answers when `port` does. */
  async function addPod(name: string, port: number, values: Values = {}): Promise<void> {
    const template = at(only(render({ ...values, relay: { adminPort: port } }), "Deployment"), "spec", "template");
    const labels = at(template, "metadata", "labels");
    const spec = { ...(at(template, "spec") as object), nodeName: "a-node" };
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { name, labels }, spec };
    expect(await api.ask("POST", PODS, pod)).toMatchObject({ status: 201 });
    const status = { phase: "Running", podIP: ADDRESS, podIPs: [{ ip: ADDRESS }] };
    expect(await api.ask("PATCH", `${PODS}/${name}/status`, { status })).toMatchObject({ status: 200 });
  }

  async function addReplica(name: string, drain: typeof WEB): Promise<void> {
    const ring = createDrainRing(10);
    ring.add(drain);
    const admin = await openAdmin({ drains: ring, instance: name }, 0);
    open.push(admin);
    await addPod(name, admin.port);
  }

  /** A person with the rights that the documentation grants, and maybe without one resource of them. */
  async function personWith(name: string, resources: readonly string[]): Promise<string> {
    const metadata = { name };
    await api.ask("POST", "/api/v1/namespaces/lastcall/serviceaccounts", { metadata });
    const rules = [{ apiGroups: [""], resources, verbs: ["get", "list"] }];
    await api.ask("POST", `${ROLES}/roles`, { metadata, rules });
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name };
    const subjects = [{ kind: "ServiceAccount", name, namespace: "lastcall" }];
    await api.ask("POST", `${ROLES}/rolebindings`, { metadata, roleRef, subjects });
    return api.kubeconfigOf(name);
  }

  function drains(kubeconfig: string, ...flags: readonly string[]): Promise<Ran> {
    return lastcall(["drains", "--kubeconfig", kubeconfig, ...flags], {}, undefined, {
      ...NO_CLUSTER,
      connect: (choice) => connectCluster(choice, { environment: {}, homeFolder: "/nonexistent" }),
    });
  }

  beforeAll(async () => {
    api = await startApiServer();
    await api.ask("POST", "/api/v1/namespaces", { metadata: { name: "lastcall" } });
    await addReplica("lastcall-webhook-a", WEB);
    await addReplica("lastcall-webhook-b", DB);
  }, 600_000);
  afterAll(async () => {
    await Promise.all(open.map((admin) => admin.close()));
    await api?.stop();
  });

  test("are those of all replicas, with the rights that the documentation names", async () => {
    const jane = await personWith("jane", ["pods", "pods/proxy"]);
    const { status, out, err } = await drains(jane, "--json");
    expect({ status, err }).toEqual({ status: 0, err: "" });
    expect(JSON.parse(out)).toEqual({ version: 1, drains: [DB, WEB] });
    const one = await drains(jane, "--json", "-n", "data");
    expect(JSON.parse(one.out)).toEqual({ version: 1, drains: [DB] });
  });

  test("are refused without pods/proxy, and the sentence names the right", async () => {
    const { status, out, err } = await drains(await personWith("joe", ["pods"]));
    expect({ status, out }).toEqual({ status: 1, out: "" });
    expect(err).toContain("lastcall/lastcall-webhook-a did not tell its drains: 403, ");
    expect(err).toContain('cannot get resource "pods/proxy"');
  });

  test("ask for the namespace of a user who may list Pods nowhere else", async () => {
    const { status, err } = await drains(await personWith("jim", []));
    expect(status).toBe(1);
    expect(err).toContain("the Pods of namespace lastcall cannot be listed: 403, ");
    expect(err).toContain("give --lastcall-namespace");
  });

  test("are those of the others when one replica is gone, and it is named", async () => {
    await addPod("lastcall-webhook-c", await freePort());
    const { status, out, err } = await drains(api.kubeconfig, "--json");
    expect(status).toBe(0);
    expect(JSON.parse(out).drains).toHaveLength(2);
    expect(err).toMatch(/^warning: lastcall\/lastcall-webhook-c did not tell its drains: 503, .*refused/);
  });

  test("say of a release without an admin port that it has none", async () => {
    await addPod("lastcall-webhook-d", 0);
    const { err } = await drains(api.kubeconfig, "--json");
    expect(err).toContain("lastcall/lastcall-webhook-d has no port named admin");
  });
});
