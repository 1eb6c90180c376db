/** Tests `lastcall drains` against a fake API server over TLS that forwards ports to real admin servers. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { someDrain, someReport } from "../../drain-history/some-drain.ts";
import { lastcall } from "../run-lastcall.ts";
import { createFakeCluster, createWebhookPod, type FakeCluster } from "./fake-cluster.ts";
import { portsOf, runOnCluster } from "./run-on-cluster.ts";

const WEB_DRAIN = someDrain({ id: "a-1" });
const DB_DRAIN = someDrain({
  id: "b-1",
  uid: "u-db",
  namespace: "data",
  pod: "db-0",
  ownerKind: "StatefulSet",
  ownerName: "db",
  endedAtMs: WEB_DRAIN.endedAtMs + 30_000,
  report: someReport({ outcome: "timeout", why: "Released 65s after the trigger: the deadline came." }),
});

let cluster: FakeCluster;
beforeEach(async () => {
  cluster = await createFakeCluster();
});
afterEach(() => cluster.close());

describe("the command drains prints", () => {
  test("the drains of all replicas as one table, newest first", async () => {
    await cluster.addReplica("lastcall-webhook-a", [WEB_DRAIN]);
    await cluster.addReplica("lastcall-webhook-b", [
      DB_DRAIN,
      someDrain({ id: "b-9", endedAtMs: WEB_DRAIN.endedAtMs + 900 }),
    ]);
    expect(await runOnCluster(cluster, "drains")).toEqual({
      status: 0,
      out:
        "AGE  NAMESPACE  POD             OWNER        OUTCOME  TOOK  RESETS  WHY\n" +
        "30s  data       db-0            sts/db       timeout  7.3s  –       the deadline came.\n" +
        "60s  shop       web-7d9f-abcde  rs/web-7d9f  drained  7.3s  –       no traffic since the trigger.\n",
      err: "",
    });
  });

  test("the records as JSON, each drain once", async () => {
    await cluster.addReplica("lastcall-webhook-a", [WEB_DRAIN]);
    await cluster.addReplica("lastcall-webhook-b", [
      DB_DRAIN,
      someDrain({ id: "b-9", endedAtMs: WEB_DRAIN.endedAtMs + 900 }),
    ]);
    const { status, out } = await runOnCluster(cluster, "drains", "--json");
    expect(status).toBe(0);
    expect(JSON.parse(out)).toEqual({ version: 1, drains: [DB_DRAIN, WEB_DRAIN] });
  });

  test("responses of many WebSocket frames", async () => {
    const manyDrains = Array.from({ length: 100 }, (_, at) => {
      return someDrain({ id: `m-${at}`, uid: `u-${at}`, report: someReport({ why: "w".repeat(900) }) });
    });
    await cluster.addReplica("lastcall-webhook-a", manyDrains);
    const { status, out } = await runOnCluster(cluster, "drains", "--json");
    expect(status).toBe(0);
    expect(JSON.parse(out).drains).toHaveLength(100);
  });

  test("only drains of the namespace in --namespace", async () => {
    await cluster.addReplica("lastcall-webhook-a", [WEB_DRAIN, DB_DRAIN]);
    const { out } = await runOnCluster(cluster, "drains", "-n", "data");
    expect(out).toContain("db-0");
    expect(out).not.toContain("web-7d9f");
  });

  test("a message and exits with 0 if no drains are recorded", async () => {
    await cluster.addReplica("lastcall-webhook-a", []);
    expect(await runOnCluster(cluster, "drains")).toEqual({ status: 0, out: "", err: "no drains recorded\n" });
    expect((await runOnCluster(cluster, "drains", "-n", "shop")).err).toBe("no drains recorded in namespace shop\n");
    expect(JSON.parse((await runOnCluster(cluster, "drains", "--json")).out)).toEqual({ version: 1, drains: [] });
  });
});

describe("the command drains reports an unresponsive replica and prints the drains of the other replicas", () => {
  test("if the replica's admin port is closed", async () => {
    await cluster.addReplica("lastcall-webhook-a", [WEB_DRAIN]);
    const stoppedReplica = await cluster.addReplica("lastcall-webhook-b", [DB_DRAIN]);
    await stoppedReplica.stop();
    const { status, out, err } = await runOnCluster(cluster, "drains");
    expect({ status, lines: out.split("\n").length }).toEqual({ status: 0, lines: 3 });
    expect(err).toMatch(
      /^warning: lastcall\/lastcall-webhook-b did not return its drains: error forwarding port \d+ to pod: .*ECONNREFUSED.*\n$/,
    );
  });

  test("if the replica does not respond within 5 s", { timeout: 60_000 }, async () => {
    await cluster.addReplica("lastcall-webhook-a", [WEB_DRAIN]);
    cluster.pods.push(createWebhookPod("lastcall-webhook-b", 8081));
    cluster.unresponsivePods.add("lastcall-webhook-b");
    const { status, out, err } = await runOnCluster(cluster, "drains");
    expect({ status, lines: out.split("\n").length }).toEqual({ status: 0, lines: 3 });
    expect(err).toBe(
      "warning: lastcall/lastcall-webhook-b did not return its drains: the API server did not respond in time\n",
    );
  });

  test("if the replica is pending or does not have an admin port, but not if its Pod is terminated", async () => {
    await cluster.addReplica("lastcall-webhook-a", [WEB_DRAIN]);
    cluster.pods.push(
      createWebhookPod("lastcall-webhook-b", 8081, "lastcall", "Pending"),
      createWebhookPod("lastcall-webhook-c", undefined),
      createWebhookPod("lastcall-webhook-d", 8081, "lastcall", "Failed"),
    );
    const { status, err } = await runOnCluster(cluster, "drains");
    expect(status).toBe(0);
    expect(err).toBe(
      "warning: lastcall/lastcall-webhook-b is not running yet (Pending)\n" +
        "warning: lastcall/lastcall-webhook-c has no port named admin: its relay or admin port is disabled; set relay.enabled and relay.adminPort in the chart\n",
    );
  });
});

describe("the command drains prints an error with a remedy", () => {
  test("without permission for pods/portforward", async () => {
    await cluster.addReplica("lastcall-webhook-a", [WEB_DRAIN]);
    cluster.permissions.forward = false;
    const { status, out, err } = await runOnCluster(cluster, "drains");
    expect({ status, out }).toEqual({ status: 1, out: "" });
    expect(err).toContain(
      'error: lastcall/lastcall-webhook-a did not return its drains: 403, pods "lastcall-webhook-a" is forbidden',
    );
    expect(err).toContain("kubectl auth can-i create pods/portforward");
  });

  test("after the API server's rejection of the credentials", async () => {
    const { status, err } = await runOnCluster(cluster, "drains", "--context", "other");
    expect(status).toBe(1);
    expect(err).toContain("cannot list Pods in namespace lastcall: 401, the API server rejected the credentials");
    expect(cluster.requests).toHaveLength(1);
  });

  test("if lastcall is not installed", async () => {
    const { status, err } = await runOnCluster(cluster, "drains");
    expect(status).toBe(1);
    expect(err).toContain(
      "error: the cluster does not have a Pod of lastcall's webhook (labels app.kubernetes.io/name=lastcall,",
    );
    expect((await runOnCluster(cluster, "drains", "--lastcall-namespace", "lastcall")).err).toContain(
      "error: namespace lastcall does not have a Pod of lastcall's webhook",
    );
  });

  test("if the API server refuses connections", async () => {
    const port = "1";
    const { status, err } = await lastcall(
      ["drains"],
      {},
      undefined,
      portsOf(cluster, {
        connect: async () => ({
          ok: true,
          server: `https://127.0.0.1:${port}`,
          request: async () => {
            throw new Error("connect ECONNREFUSED 127.0.0.1:1");
          },
          podClient: () => async () => {
            throw new Error("no Pod was found");
          },
          close: () => undefined,
        }),
      }),
    );
    expect(status).toBe(1);
    expect(err).toContain("error: cannot list Pods in namespace lastcall: connect ECONNREFUSED 127.0.0.1:1\n");
  });

  test("and quotes a long response with control characters in a short and printable form", async () => {
    const { createServer } = await import("node:http");
    const failingServer = createServer((_, reply) => reply.writeHead(500).end(`\u001b[2J${"x".repeat(1_000_000)}`));
    await new Promise<void>((resolve) => failingServer.listen(0, "127.0.0.1", resolve));
    const address = failingServer.address();
    cluster.pods.push(createWebhookPod("lastcall-webhook-a", typeof address === "object" ? address?.port : 0));
    const { status, err } = await runOnCluster(cluster, "drains");
    failingServer.close();
    expect(status).toBe(1);
    expect(err).toContain("did not return its drains: 500, ?[2Jxxx");
    expect(err.length).toBeLessThan(1_500);
  });

  test("after a response in another version of the format", async () => {
    const { createServer } = await import("node:http");
    const otherServer = createServer((_, reply) => reply.end('{"version": 2, "drains": []}'));
    await new Promise<void>((resolve) => otherServer.listen(0, "127.0.0.1", resolve));
    const address = otherServer.address();
    cluster.pods.push(createWebhookPod("lastcall-webhook-a", typeof address === "object" ? address?.port : 0));
    const { status, err } = await runOnCluster(cluster, "drains");
    otherServer.close();
    expect(status).toBe(1);
    expect(err).toContain(
      "this version of lastcall does not support the format of the response; run the version of lastcall that the webhook runs",
    );
  });
});

describe("the namespace of lastcall's replicas", () => {
  test("is found by labels if it is not the default namespace", async () => {
    await cluster.addReplica("lastcall-webhook-a", [WEB_DRAIN], "platform");
    const { status, out } = await runOnCluster(cluster, "drains");
    expect(status).toBe(0);
    expect(out).toContain("web-7d9f-abcde");
  });

  test("must be set without permission to list Pods in all namespaces", async () => {
    await cluster.addReplica("lastcall-webhook-a", [WEB_DRAIN], "platform");
    cluster.permissions.list = ["platform"];
    const refusedResult = await runOnCluster(cluster, "drains");
    expect(refusedResult.status).toBe(1);
    expect(refusedResult.err).toContain("at the cluster scope; set --lastcall-namespace\n");
    expect((await runOnCluster(cluster, "drains", "--lastcall-namespace", "platform")).status).toBe(0);
  });

  test("must be set if Pods of several namespaces have the labels", async () => {
    await cluster.addReplica("lastcall-webhook-a", [WEB_DRAIN], "platform");
    await cluster.addReplica("lastcall-webhook-a", [DB_DRAIN], "tenant");
    const { status, out, err } = await runOnCluster(cluster, "drains");
    expect({ status, out }).toEqual({ status: 1, out: "" });
    expect(err).toContain(
      'several namespaces contain Pods with the labels of lastcall\'s webhook: "platform", "tenant"; set --lastcall-namespace\n',
    );
    expect(cluster.requests.filter((request) => request.includes("/portforward"))).toEqual([]);
    expect((await runOnCluster(cluster, "drains", "--lastcall-namespace", "platform")).status).toBe(0);
  });

  test("must be a DNS label, so that no value changes the request path", async () => {
    const { status, err } = await runOnCluster(cluster, "drains", "--lastcall-namespace", "../../secrets");
    expect(status).toBe(1);
    expect(err).toContain('Got "../../secrets", expected the name of a namespace');
    expect(cluster.requests).toEqual([]);
  });
});
