/** Tests the relay in the real program: relay access of Pods, requests of managers, and failures. */
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { getPriority } from "node:os";
import { connect } from "node:tls";
import { afterEach, describe, expect, test } from "vitest";
import { RELAY_NICENESS } from "../../src/relay/thread/thread-main.ts";
import { type FakeApiServer, startFakeApiServer } from "../api-server/fake-api-server.ts";
import { someReport } from "../drain-history/some-drain.ts";
import { listenOnOwnPort } from "../leases/own-port.ts";
import { eventually } from "../time/eventually.ts";
import { SECRETS } from "../webhook/certificates-authority/shared-objects.ts";
import { POD } from "../webhook/pod-review.ts";
import { sendRequest } from "../webhook/running-webhook.ts";
import { admitPod, admitWithRelay, type Replica, requestRelay, startReplica, type Variables } from "./replica.ts";
import { sliceObject } from "./slices/slice-cases.ts";
import { slicesPathOf } from "./slices/watched-cluster.ts";

const TIMEOUT = { timeout: 400_000 };
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function startApiServer(): Promise<FakeApiServer> {
  const started = await startFakeApiServer();
  cleanups.push(started.close);
  started.put("/api/v1/namespaces", { metadata: { name: "shop" } });
  return started;
}

async function startTestReplica(apiServer: Pick<FakeApiServer, "url">, args?: readonly string[]): Promise<Replica> {
  const starting = startReplica(apiServer, args);
  // The cleanup is registered before the start, so that this program also ends if another one fails to start.
  cleanups.push(() => starting.then((started) => started.destroy()).catch(() => undefined));
  return starting;
}

const OWNED_POD = {
  ...POD,
  metadata: {
    ...POD.metadata,
    ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-5d9", uid: "uid-5d9", controller: true }],
  },
};

const POD_IDENTITY = { namespace: "shop", pod: "web-0", uid: "uid-of-web-0" };
const REPORT_REQUEST = { path: "/v1/drains", body: { ...POD_IDENTITY, report: someReport() } };
const WITHDRAWAL_REQUEST = { path: "/v1/withdrawal", body: { ...POD_IDENTITY, addresses: ["10.1.2.3"] } };

/** Opens a withdrawal stream, which stays open until the replica exits. Resolves with its first line. */
const readFirstStatus = (replica: Replica, variables: Variables): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const onText = (text: string) => resolve(JSON.parse(text.split("\n")[0] ?? ""));
    requestRelay(replica, variables, { ...WITHDRAWAL_REQUEST, onText }).catch(reject);
  });

describe("two relay replicas with one Secret", () => {
  test(
    "inject credentials that both replicas accept, and do not replace a credential of the other replica",
    TIMEOUT,
    async () => {
      const server = await startApiServer();
      const [first, second] = await Promise.all([startTestReplica(server), startTestReplica(server)]);
      const { pod, variables } = await admitWithRelay(first, OWNED_POD);
      expect(variables).toMatchObject({
        LASTCALL_RELAY_ADDRESS: "10.96.0.7:443",
        LASTCALL_RELAY_NAME: expect.stringMatching(/^relay-[0-9a-f]{16}\.lastcall\.internal$/),
        POD_IPS: "status.podIPs",
      });
      expect((await admitWithRelay(second, pod)).pod).toEqual(pod);
      for (const each of [first, second])
        expect((await requestRelay(each, variables, REPORT_REQUEST)).status).toBe(200);
      const otherVariables = (await admitWithRelay(second, OWNED_POD)).variables;
      expect(otherVariables["LASTCALL_RELAY_CREDENTIAL"]).not.toBe(variables["LASTCALL_RELAY_CREDENTIAL"]);
      expect((await requestRelay(first, otherVariables, REPORT_REQUEST)).status).toBe(200);
      expect(server.writes.filter((write) => write === `POST ${SECRETS} 201`)).toHaveLength(1);
    },
  );

  test(
    "send the shutdown `graceful` of a workload only if they received the reports of its Pods without resets",
    TIMEOUT,
    async () => {
      const server = await startApiServer();
      const [first, second] = await Promise.all([startTestReplica(server), startTestReplica(server)]);
      const { variables } = await admitWithRelay(first, OWNED_POD);
      const resets = { draining: 0, stopping: 0, probes: 0, stoppingMs: 900 };
      const report = someReport({ outcome: "handed-over", leftTotal: 1, resets });
      for (const uid of ["uid-1", "uid-2", "uid-3"])
        await requestRelay(first, variables, { path: "/v1/drains", body: { ...POD_IDENTITY, uid, report } });
      const nextRolloutPod = structuredClone(OWNED_POD);
      for (const owner of nextRolloutPod.metadata.ownerReferences) owner.name = "web-7bd8f";
      const nextVariables = (await admitWithRelay(second, nextRolloutPod)).variables;
      expect(await readFirstStatus(first, nextVariables)).toMatchObject({ state: "unknown", shutdown: "graceful" });
      expect(await readFirstStatus(second, nextVariables)).not.toHaveProperty("shutdown");
    },
  );

  test(
    "create a new CA after the Secret's deletion, and serve the Pods that the other replica injects",
    TIMEOUT,
    async () => {
      const server = await startApiServer();
      const [first, second] = await Promise.all([startTestReplica(server), startTestReplica(server)]);
      const replacedVariables = (await admitWithRelay(first, OWNED_POD)).variables;
      server.remove(SECRETS, "lastcall-relay", "lastcall");
      await eventually(() =>
        expect(first.output() + second.output()).toContain("CAs that running Pods trust were removed"),
      );
      await eventually(async () => {
        const currentVariables = (await admitPod(first, OWNED_POD)).variables;
        expect(currentVariables["LASTCALL_RELAY_NAME"]).not.toBe(replacedVariables["LASTCALL_RELAY_NAME"]);
        const responses = await Promise.all(
          [first, second].map((each) => requestRelay(each, currentVariables, REPORT_REQUEST)),
        );
        expect(responses.map(({ status }) => status)).toEqual([200, 200]);
      });
      // The TLS handshake of a client that trusts only the deleted CA fails. Its Pod therefore drains without a withdrawal status.
      await expect(requestRelay(first, replacedVariables, REPORT_REQUEST)).rejects.toThrow();
      expect(first.output() + second.output()).not.toMatch(/PRIVATE|"secret"/);
    },
  );
});

describe("the ports of the relay and the webhook", () => {
  test("serve the relay's routes and the webhook's routes separately", TIMEOUT, async () => {
    const replica = await startTestReplica(await startApiServer());
    const { variables } = await admitWithRelay(replica, OWNED_POD);
    for (const path of ["/mutate", "/metrics", "/healthz", "/readyz", "/"]) {
      const method = path === "/mutate" ? "POST" : "GET";
      expect((await requestRelay(replica, variables, { path, method })).status).toBe(404);
    }
    for (const path of ["/v1/drains", "/v1/withdrawal"])
      expect((await sendRequest(replica, { path, body: JSON.stringify(REPORT_REQUEST.body) })).status).toBe(404);
    const otherIdentity = { ...variables, LASTCALL_RELAY_NAME: `relay-${"0".repeat(16)}.lastcall.internal` };
    await expect(requestRelay(replica, otherIdentity, REPORT_REQUEST)).rejects.toThrow(/handshake/);
    // The webhook's port does not serve the relay's server name either.
    await expect(requestRelay({ relayPort: () => replica.port }, variables, REPORT_REQUEST)).rejects.toThrow(
      /certificate/,
    );
  });

  test("reject a client whose credential is missing, changed or of another namespace", TIMEOUT, async () => {
    const replica = await startTestReplica(await startApiServer());
    const { variables } = await admitWithRelay(replica, OWNED_POD);
    const credential = variables["LASTCALL_RELAY_CREDENTIAL"] ?? "";
    for (const authorization of ["", "Lastcall x", `Lastcall ${credential.slice(0, -1)}`, `Bearer ${credential}`]) {
      expect((await requestRelay(replica, variables, { ...REPORT_REQUEST, authorization })).status).toBe(401);
      expect((await requestRelay(replica, variables, { ...WITHDRAWAL_REQUEST, authorization })).status).toBe(401);
    }
    const otherNamespace = { ...REPORT_REQUEST.body, namespace: "elsewhere" };
    expect((await requestRelay(replica, variables, { ...REPORT_REQUEST, body: otherNamespace })).status).toBe(403);
  });
});

test(
  "after SIGTERM and the drain delay the relay ends the open streams, and the program exits despite idle connections",
  TIMEOUT,
  async () => {
    const server = await startApiServer();
    const endpoints = [{ uid: POD_IDENTITY.uid, address: "10.1.2.3", conditions: { ready: true } }];
    server.put(slicesPathOf("shop"), sliceObject({ name: "web", service: "web", endpoints }));
    const replica = await startTestReplica(server, ["--relay-address=10.96.0.7:443", "--drain-delay=1s"]);
    const { variables } = await admitWithRelay(replica, OWNED_POD);
    let started: () => void = () => undefined;
    const first = new Promise<void>((resolve) => {
      started = resolve;
    });
    const stream = requestRelay(replica, variables, { ...WITHDRAWAL_REQUEST, onText: () => started() });
    await first;
    // One connection does not send a request, and the other sends an incomplete request.
    await Promise.all([
      openIdleConnection(replica, variables, ""),
      openIdleConnection(replica, variables, "POST /v1/drains HTTP/1.1\r\n"),
    ]);
    const stopMs = performance.now();
    replica.signal("SIGTERM");
    const { status, text } = await stream;
    expect(status).toBe(200);
    // The stream ends after the drain delay: a manager that reconnects earlier would reach this replica again.
    expect(performance.now() - stopMs).toBeGreaterThan(950);
    expect(
      text
        .trimEnd()
        .split("\n")
        .every((line) => JSON.parse(line).state !== "out"),
    ).toBe(true);
    expect((await replica.ended).status).toBe(0);
    expect(replica.output()).not.toContain("still open after the time limit");
  },
);

describe("Pods are admitted", () => {
  test("without relay variables if the relay's address is invalid, which is logged once", TIMEOUT, async () => {
    const unexpanded = "[$(LASTCALL_WEBHOOK_SERVICE_HOST)]:$(LASTCALL_WEBHOOK_SERVICE_PORT)";
    const replica = await startTestReplica(await startApiServer(), [`--relay-address=${unexpanded}`]);
    for (let attempt = 0; attempt < 3; attempt += 1)
      expect(Object.keys((await admitPod(replica, OWNED_POD)).variables)).not.toContain("LASTCALL_RELAY_ADDRESS");
    expect(replica.output().match(/Pods are injected without the relay/g)).toHaveLength(1);
  });

  test(
    "without the relay's CA while the relay's Secret cannot be read, and with the CA afterwards",
    TIMEOUT,
    async () => {
      const server = await startApiServer();
      const restrictedApi = await forbidSecrets(server);
      const replica = await startTestReplica(restrictedApi);
      expect(Object.keys((await admitPod(replica, OWNED_POD)).variables)).toContain("LASTCALL_TOKEN");
      expect(Object.keys((await admitPod(replica, OWNED_POD)).variables)).not.toContain("LASTCALL_RELAY_CA");
      expect((await sendRequest(replica, { path: "/readyz" })).status).toBe(200);
      expect(await readMetricsWithRelay(replica)).toContain("lastcall_relay_identity_ready 0");
      await eventually(() => expect(replica.output()).toContain("cannot reconcile the relay's Secret"));
      restrictedApi.forbidsSecrets = false;
      await eventually(async () =>
        expect(Object.keys((await admitPod(replica, OWNED_POD)).variables)).toContain("LASTCALL_RELAY_CA"),
      );
    },
  );

  test("without a credential for a namespace until that namespace exists", TIMEOUT, async () => {
    const server = await startApiServer();
    server.remove("/api/v1/namespaces", "shop");
    const replica = await startTestReplica(server);
    const { variables } = await admitPod(replica, OWNED_POD);
    expect(Object.keys(variables)).toContain("LASTCALL_TOKEN");
    expect(Object.keys(variables)).not.toContain("LASTCALL_RELAY_CREDENTIAL");
    server.put("/api/v1/namespaces", { metadata: { name: "shop" } });
    await eventually(async () =>
      expect(Object.keys((await admitPod(replica, OWNED_POD)).variables)).toContain("LASTCALL_RELAY_CREDENTIAL"),
    );
  });

  test(
    "with the relay's variables even while the relay's port of this replica is in use by another process",
    TIMEOUT,
    async () => {
      const otherServer = createServer();
      const port = await listenOnOwnPort(otherServer, "127.0.0.1");
      cleanups.push(() => otherServer.close());
      const args = ["--relay-address=10.96.0.7:443", `--relay-port=${port}`];
      const replica = await startTestReplica(await startApiServer(), args);
      await eventually(() => expect(replica.output()).toMatch(/will be restarted[\s\S]*will be restarted/));
      const { variables } = await admitWithRelay(replica, OWNED_POD);
      expect((await sendRequest(replica, { path: "/readyz" })).status).toBe(200);
      const metricsWithoutRelay = (await sendRequest(replica, { path: "/metrics" })).body;
      expect(metricsWithoutRelay).toMatch(/^lastcall_relay_thread_starts_total ([2-9]|[1-9][0-9]+)$/m);
      expect(metricsWithoutRelay).toContain("lastcall_admissions_total");
      expect(replica.output()).toContain(`the relay's port ${port} of 127.0.0.1 is in use by another process`);
      await new Promise((resolve) => otherServer.close(resolve));
      expect((await requestRelay(replica, variables, REPORT_REQUEST)).status).toBe(200);
      const metrics = await readMetricsWithRelay(replica);
      expect(metrics).toMatch(/^lastcall_drains_total\{outcome="drained"\} 1$/m);
    },
  );

  test("by threads of normal CPU priority, while only the relay's thread has a lower priority", TIMEOUT, async () => {
    const replica = await startTestReplica(await startApiServer());
    await admitWithRelay(replica, OWNED_POD);
    const nicenesses = readdirSync(`/proc/${replica.pid}/task`).map((thread) => {
      const text = readFileSync(`/proc/${replica.pid}/task/${thread}/stat`, "utf8");
      return Number(text.slice(text.lastIndexOf(")")).split(" ")[17]);
    });
    const processNiceness = getPriority(process.pid);
    expect(nicenesses.filter((niceness) => niceness !== processNiceness)).toEqual([RELAY_NICENESS]);
  });

  test("even if the admin port, which serves recent drains, is in use", TIMEOUT, async () => {
    const otherServer = createServer();
    const port = await listenOnOwnPort(otherServer, "::");
    cleanups.push(() => otherServer.close());
    const args = ["--relay-address=10.96.0.7:443", `--admin-port=${port}`];
    const server = await startApiServer();
    const replicaWithoutPage = await startTestReplica(server, args);
    await eventually(() => expect(replicaWithoutPage.output()).toContain("cannot serve recent drains"));
    expect((await sendRequest(replicaWithoutPage, { path: "/readyz" })).status).toBe(200);
    await new Promise((resolve) => otherServer.close(resolve));
    const replica = await startTestReplica(server, args);
    const { variables } = await admitWithRelay(replica, OWNED_POD);
    expect((await requestRelay(replica, variables, REPORT_REQUEST)).status).toBe(200);
    const drainsResponse = await fetch(`http://127.0.0.1:${port}/drains.json?namespace=shop`);
    expect(await drainsResponse.json()).toMatchObject({
      version: 1,
      drains: [{ namespace: "shop", pod: "web-0", ownerKind: "ReplicaSet", ownerName: "web-5d9" }],
    });
  });
});

/** Waits until the webhook's metrics include those of the relay, which are missing while the relay's thread is busy. */
async function readMetricsWithRelay(replica: Replica): Promise<string> {
  return eventually(async () => {
    const page = (await sendRequest(replica, { path: "/metrics" })).body;
    expect(page).toMatch(/^lastcall_relay_answering 1$/m);
    return page;
  });
}

/** Opens a connection with the relay's server name and sends only `text`, which is not a complete request. */
function openIdleConnection({ relayPort }: Replica, variables: Variables, text: string): Promise<void> {
  return new Promise((resolve) => {
    const servername = variables["LASTCALL_RELAY_NAME"] ?? "";
    const socket = connect({ host: "127.0.0.1", port: relayPort(), servername, rejectUnauthorized: false }, () => {
      socket.write(text, () => resolve());
    });
    socket.on("error", () => undefined);
    cleanups.push(() => socket.destroy());
  });
}

/** Starts a proxy of the API server that forbids access to Secrets until the test allows it. */
async function forbidSecrets(server: FakeApiServer): Promise<{ readonly url: string; forbidsSecrets: boolean }> {
  const proxy = createServer((request, response) => {
    if (restrictedApi.forbidsSecrets && request.url?.includes("/secrets") === true) {
      response.writeHead(403, { "content-type": "application/json" }).end('{"message":"may not"}');
      return;
    }
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "GET", url } = request;
      const body = chunks.length === 0 ? {} : { body: Buffer.concat(chunks).toString() };
      const forwardRequest = async (): Promise<void> => {
        const upstreamResponse = await fetch(`${server.url}${url}`, { method, ...body });
        response
          .writeHead(upstreamResponse.status, { "content-type": "application/json" })
          .end(await upstreamResponse.text());
      };
      // When the test ends, the forwarded watch breaks, so this function rejects.
      forwardRequest().catch(() => response.destroy());
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  cleanups.push(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  const restrictedApi = { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, forbidsSecrets: true };
  return restrictedApi;
}
