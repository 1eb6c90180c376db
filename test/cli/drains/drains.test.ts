/** `lastcall drains` against an API server over TLS that forwards ports to real admin ports. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { someDrain, someReport } from "../../drain-history/some-drain.ts";
import { lastcall } from "../run-lastcall.ts";
import { type FakeCluster, fakeCluster, webhookPod } from "./fake-cluster.ts";
import { drainsOn, onCluster } from "./run-on-cluster.ts";

const WEB = someDrain({ id: "a-1" });
const DB = someDrain({
  id: "b-1",
  uid: "u-db",
  namespace: "data",
  pod: "db-0",
  ownerKind: "StatefulSet",
  ownerName: "db",
  endedAtMs: WEB.endedAtMs + 30_000,
  report: someReport({ outcome: "timeout", why: "Released 65s after the trigger: the deadline came." }),
});

let cluster: FakeCluster;
beforeEach(async () => {
  cluster = await fakeCluster();
});
afterEach(() => cluster.close());

describe("drains prints", () => {
  test("what all replicas remember as one table, newest first", async () => {
    await cluster.addReplica("lastcall-webhook-a", [WEB]);
    await cluster.addReplica("lastcall-webhook-b", [DB, someDrain({ id: "b-9", endedAtMs: WEB.endedAtMs + 900 })]);
    expect(await drainsOn(cluster, "drains")).toEqual({
      status: 0,
      out:
        "AGE  NAMESPACE  POD             OWNER        OUTCOME  TOOK  WHY\n" +
        "30s  data       db-0            sts/db       timeout  7.3s  the deadline came.\n" +
        "60s  shop       web-7d9f-abcde  rs/web-7d9f  drained  7.3s  no traffic since the trigger.\n",
      err: "",
    });
  });

  test("the records as JSON, each drain once", async () => {
    await cluster.addReplica("lastcall-webhook-a", [WEB]);
    await cluster.addReplica("lastcall-webhook-b", [DB, someDrain({ id: "b-9", endedAtMs: WEB.endedAtMs + 900 })]);
    const { status, out } = await drainsOn(cluster, "drains", "--json");
    expect(status).toBe(0);
    expect(JSON.parse(out)).toEqual({ version: 1, drains: [DB, WEB] });
  });

  test("answers of many frames whole", async () => {
    const many = Array.from({ length: 100 }, (_, at) => {
      return someDrain({ id: `m-${at}`, uid: `u-${at}`, report: someReport({ why: "w".repeat(900) }) });
    });
    await cluster.addReplica("lastcall-webhook-a", many);
    const { status, out } = await drainsOn(cluster, "drains", "--json");
    expect(status).toBe(0);
    expect(JSON.parse(out).drains).toHaveLength(100);
  });

  test("only the namespace asked for", async () => {
    await cluster.addReplica("lastcall-webhook-a", [WEB, DB]);
    const { out } = await drainsOn(cluster, "drains", "-n", "data");
    expect(out).toContain("db-0");
    expect(out).not.toContain("web-7d9f");
  });

  test("that nothing is remembered, and does not take that for an error", async () => {
    await cluster.addReplica("lastcall-webhook-a", []);
    expect(await drainsOn(cluster, "drains")).toEqual({ status: 0, out: "", err: "no drain is remembered\n" });
    expect((await drainsOn(cluster, "drains", "-n", "shop")).err).toBe("no drain of namespace shop is remembered\n");
    expect(JSON.parse((await drainsOn(cluster, "drains", "--json")).out)).toEqual({ version: 1, drains: [] });
  });
});

describe("a replica that does not answer is named, and the others' drains are printed", () => {
  test("when nothing listens on its admin port", async () => {
    await cluster.addReplica("lastcall-webhook-a", [WEB]);
    const gone = await cluster.addReplica("lastcall-webhook-b", [DB]);
    await gone.stop();
    const { status, out, err } = await drainsOn(cluster, "drains");
    expect({ status, lines: out.split("\n").length }).toEqual({ status: 0, lines: 3 });
    expect(err).toMatch(
      /^warning: lastcall\/lastcall-webhook-b did not tell its drains: error forwarding port \d+ to pod: .*ECONNREFUSED.*\n$/,
    );
  });

  test("when it says nothing for 5 s", { timeout: 60_000 }, async () => {
    await cluster.addReplica("lastcall-webhook-a", [WEB]);
    cluster.pods.push(webhookPod("lastcall-webhook-b", 8081));
    cluster.mute.add("lastcall-webhook-b");
    const { status, out, err } = await drainsOn(cluster, "drains");
    expect({ status, lines: out.split("\n").length }).toEqual({ status: 0, lines: 3 });
    expect(err).toBe(
      "warning: lastcall/lastcall-webhook-b did not tell its drains: the API server did not answer in time\n",
    );
  });

  test("when it has not started, or has no admin port; one that ended is no replica", async () => {
    await cluster.addReplica("lastcall-webhook-a", [WEB]);
    cluster.pods.push(
      webhookPod("lastcall-webhook-b", 8081, "lastcall", "Pending"),
      webhookPod("lastcall-webhook-c", undefined),
      webhookPod("lastcall-webhook-d", 8081, "lastcall", "Failed"),
    );
    const { status, err } = await drainsOn(cluster, "drains");
    expect(status).toBe(0);
    expect(err).toBe(
      "warning: lastcall/lastcall-webhook-b is not running yet (Pending)\n" +
        "warning: lastcall/lastcall-webhook-c has no port named admin: its relay or its admin port is switched off\n",
    );
  });
});

describe("no answer at all is an error that says what to check", () => {
  test("without the right to pods/portforward", async () => {
    await cluster.addReplica("lastcall-webhook-a", [WEB]);
    cluster.rights.forward = false;
    const { status, out, err } = await drainsOn(cluster, "drains");
    expect({ status, out }).toEqual({ status: 1, out: "" });
    expect(err).toContain(
      'error: lastcall/lastcall-webhook-a did not tell its drains: 403, pods "lastcall-webhook-a" is forbidden',
    );
    expect(err).toContain("kubectl auth can-i create pods/portforward");
  });

  test("with credentials that are not accepted", async () => {
    const { status, err } = await drainsOn(cluster, "drains", "--context", "stranger");
    expect(status).toBe(1);
    expect(err).toContain("the Pods of namespace lastcall cannot be listed: 401, the API server does not accept these");
    expect(cluster.requests).toHaveLength(1);
  });

  test("where lastcall is not installed", async () => {
    const { status, err } = await drainsOn(cluster, "drains");
    expect(status).toBe(1);
    expect(err).toContain(
      "error: no namespace has a Pod of lastcall's webhook (labels app.kubernetes.io/name=lastcall,",
    );
    expect((await drainsOn(cluster, "drains", "--lastcall-namespace", "lastcall")).err).toContain(
      "error: namespace lastcall has no Pod of lastcall's webhook",
    );
  });

  test("when the API server is gone", async () => {
    const port = "1";
    const { status, err } = await lastcall(
      ["drains"],
      {},
      undefined,
      onCluster(cluster, {
        connect: async () => ({
          ok: true,
          server: `https://127.0.0.1:${port}`,
          request: async () => {
            throw new Error("connect ECONNREFUSED 127.0.0.1:1");
          },
          askPod: () => async () => {
            throw new Error("no Pod was found");
          },
          close: () => undefined,
        }),
      }),
    );
    expect(status).toBe(1);
    expect(err).toContain("error: the Pods of namespace lastcall cannot be listed: connect ECONNREFUSED 127.0.0.1:1\n");
  });

  test("however long and odd the refusal is", async () => {
    const { createServer } = await import("node:http");
    const other = createServer((_, reply) => reply.writeHead(500).end(`\u001b[2J${"x".repeat(1_000_000)}`));
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const address = other.address();
    cluster.pods.push(webhookPod("lastcall-webhook-a", typeof address === "object" ? address?.port : 0));
    const { status, err } = await drainsOn(cluster, "drains");
    other.close();
    expect(status).toBe(1);
    expect(err).toContain("did not tell its drains: 500, ?[2Jxxx");
    expect(err.length).toBeLessThan(1_500);
  });

  test("in a replica that speaks another version", async () => {
    const { createServer } = await import("node:http");
    const other = createServer((_, reply) => reply.end('{"version": 2, "drains": []}'));
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const address = other.address();
    cluster.pods.push(webhookPod("lastcall-webhook-a", typeof address === "object" ? address?.port : 0));
    const { status, err } = await drainsOn(cluster, "drains");
    other.close();
    expect(status).toBe(1);
    expect(err).toContain("its answer is of another version than this lastcall");
  });
});

describe("lastcall's own namespace", () => {
  test("is looked for by labels when it is not the usual one", async () => {
    await cluster.addReplica("lastcall-webhook-a", [WEB], "platform");
    const { status, out } = await drainsOn(cluster, "drains");
    expect(status).toBe(0);
    expect(out).toContain("web-7d9f-abcde");
  });

  test("is asked for where Pods of all namespaces may not be listed", async () => {
    await cluster.addReplica("lastcall-webhook-a", [WEB], "platform");
    cluster.rights.list = ["platform"];
    const refused = await drainsOn(cluster, "drains");
    expect(refused.status).toBe(1);
    expect(refused.err).toContain("at the cluster scope; give --lastcall-namespace\n");
    expect((await drainsOn(cluster, "drains", "--lastcall-namespace", "platform")).status).toBe(0);
  });

  test("is asked for where Pods of several namespaces claim to be it, and none of them is believed", async () => {
    await cluster.addReplica("lastcall-webhook-a", [WEB], "platform");
    await cluster.addReplica("lastcall-webhook-a", [DB], "tenant");
    const { status, out, err } = await drainsOn(cluster, "drains");
    expect({ status, out }).toEqual({ status: 1, out: "" });
    expect(err).toContain('are in the namespaces "platform", "tenant"; give --lastcall-namespace\n');
    expect(cluster.requests.filter((one) => one.includes("/portforward"))).toEqual([]);
    expect((await drainsOn(cluster, "drains", "--lastcall-namespace", "platform")).status).toBe(0);
  });

  test("is nothing that could lead a request elsewhere", async () => {
    const { status, err } = await drainsOn(cluster, "drains", "--lastcall-namespace", "../../secrets");
    expect(status).toBe(1);
    expect(err).toContain('Got "../../secrets", expected the name of a namespace');
    expect(cluster.requests).toEqual([]);
  });
});
