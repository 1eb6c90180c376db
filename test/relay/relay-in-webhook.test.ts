/** The relay inside the real program: injected access, served clients, and failures of its parts. */
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { getPriority } from "node:os";
import { connect } from "node:tls";
import { afterEach, describe, expect, test } from "vitest";
import { RELAY_NICENESS } from "../../src/relay/thread/thread-main.ts";
import { type FakeApiServer, fakeApiServer } from "../api-server/fake-api-server.ts";
import { someReport } from "../drain-history/some-drain.ts";
import { listenOnOwnPort } from "../leases/own-port.ts";
import { eventually } from "../time/eventually.ts";
import { SECRETS } from "../webhook/certificates-authority/shared-objects.ts";
import { POD } from "../webhook/pod-review.ts";
import { sendRequest } from "../webhook/running-webhook.ts";
import { admitted, askRelay, given, type Replica, startReplica, type Variables } from "./replica.ts";
import { sliceObject } from "./slices/slice-cases.ts";
import { slicesOf } from "./slices/watched-cluster.ts";

const LIMIT = { timeout: 400_000 };
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function api(): Promise<FakeApiServer> {
  const started = await fakeApiServer();
  cleanups.push(started.close);
  started.put("/api/v1/namespaces", { metadata: { name: "shop" } });
  return started;
}

async function replica(of: Pick<FakeApiServer, "url">, args?: readonly string[]): Promise<Replica> {
  const starting = startReplica(of, args);
  // If one of two programs fails to start, the other is ended too.
  cleanups.push(() => starting.then((started) => started.destroy()).catch(() => undefined));
  return starting;
}

const OWNED = {
  ...POD,
  metadata: {
    ...POD.metadata,
    ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-5d9", uid: "uid-5d9", controller: true }],
  },
};

const WHO = { namespace: "shop", pod: "web-0", uid: "uid-of-web-0" };
const NOTICE = { path: "/v1/drains", body: { ...WHO, report: someReport() } };
const REQUEST = { path: "/v1/withdrawal", body: { ...WHO, addresses: ["10.1.2.3"] } };

describe("two relay replicas with one Secret", () => {
  test("inject relay access that both accept, and do not replace each other's", LIMIT, async () => {
    const server = await api();
    const [first, second] = await Promise.all([replica(server), replica(server)]);
    const { pod, variables } = await given(first, OWNED);
    expect(variables).toMatchObject({
      LASTCALL_RELAY_ADDRESS: "10.96.0.7:443",
      LASTCALL_RELAY_NAME: expect.stringMatching(/^relay-[0-9a-f]{16}\.lastcall\.internal$/),
      POD_IPS: "status.podIPs",
    });
    expect((await given(second, pod)).pod).toEqual(pod);
    for (const each of [first, second]) expect((await askRelay(each, variables, NOTICE)).status).toBe(204);
    const other = (await given(second, OWNED)).variables;
    expect(other["LASTCALL_RELAY_CREDENTIAL"]).not.toBe(variables["LASTCALL_RELAY_CREDENTIAL"]);
    expect((await askRelay(first, other, NOTICE)).status).toBe(204);
    expect(server.writes.filter((write) => write === `POST ${SECRETS} 201`)).toHaveLength(1);
  });

  test("make a new CA after the Secret's deletion, and serve each other's Pods", LIMIT, async () => {
    const server = await api();
    const [first, second] = await Promise.all([replica(server), replica(server)]);
    const before = (await given(first, OWNED)).variables;
    server.remove(SECRETS, "lastcall-relay", "lastcall");
    await eventually(() => expect(first.output() + second.output()).toContain("lost CAs"));
    await eventually(async () => {
      const now = (await admitted(first, OWNED)).variables;
      expect(now["LASTCALL_RELAY_NAME"]).not.toBe(before["LASTCALL_RELAY_NAME"]);
      const answers = await Promise.all([first, second].map((each) => askRelay(each, now, NOTICE)));
      expect(answers.map(({ status }) => status)).toEqual([204, 204]);
    });
    // TLS refuses a client that pinned the deleted CA; it drains after the drain delay.
    await expect(askRelay(first, before, NOTICE)).rejects.toThrow();
    expect(first.output() + second.output()).not.toMatch(/PRIVATE|"secret"/);
  });
});

describe("the ports of the relay and the webhook", () => {
  test("serve the relay's routes and the webhook's routes separately", LIMIT, async () => {
    const one = await replica(await api());
    const { variables } = await given(one, OWNED);
    for (const path of ["/mutate", "/metrics", "/healthz", "/readyz", "/"]) {
      const method = path === "/mutate" ? "POST" : "GET";
      expect((await askRelay(one, variables, { path, method })).status).toBe(404);
    }
    for (const path of ["/v1/drains", "/v1/withdrawal"])
      expect((await sendRequest(one, { path, body: JSON.stringify(NOTICE.body) })).status).toBe(404);
    const otherIdentity = { ...variables, LASTCALL_RELAY_NAME: `relay-${"0".repeat(16)}.lastcall.internal` };
    await expect(askRelay(one, otherIdentity, NOTICE)).rejects.toThrow(/handshake/);
    // The webhook's port does not serve the relay's server name either.
    await expect(askRelay({ relayPort: () => one.port }, variables, NOTICE)).rejects.toThrow(/certificate/);
  });

  test("reject a client without a credential, or with a changed one or one of another namespace", LIMIT, async () => {
    const one = await replica(await api());
    const { variables } = await given(one, OWNED);
    const credential = variables["LASTCALL_RELAY_CREDENTIAL"] ?? "";
    for (const authorization of ["", "Lastcall x", `Lastcall ${credential.slice(0, -1)}`, `Bearer ${credential}`]) {
      expect((await askRelay(one, variables, { ...NOTICE, authorization })).status).toBe(401);
      expect((await askRelay(one, variables, { ...REQUEST, authorization })).status).toBe(401);
    }
    const elsewhere = { ...NOTICE.body, namespace: "elsewhere" };
    expect((await askRelay(one, variables, { ...NOTICE, body: elsewhere })).status).toBe(403);
  });
});

test(
  "after SIGTERM the relay closes its port, ends the open streams, and the program exits at once",
  LIMIT,
  async () => {
    const server = await api();
    const endpoints = [{ uid: WHO.uid, address: "10.1.2.3", conditions: { ready: true } }];
    server.put(slicesOf("shop"), sliceObject({ name: "web", service: "web", endpoints }));
    const one = await replica(server, ["--relay-address=10.96.0.7:443", "--drain-delay=1s"]);
    const { variables } = await given(one, OWNED);
    let started: () => void = () => undefined;
    const first = new Promise<void>((resolve) => {
      started = resolve;
    });
    const stream = askRelay(one, variables, { ...REQUEST, onText: () => started() });
    await first;
    // A connection without a request, and one with an incomplete request.
    await Promise.all([silentAt(one, variables, ""), silentAt(one, variables, "POST /v1/drains HTTP/1.1\r\n")]);
    const stopMs = performance.now();
    one.signal("SIGTERM");
    const { status, text } = await stream;
    expect(status).toBe(200);
    // Managers that reconnect too early would reach this replica again.
    expect(performance.now() - stopMs).toBeGreaterThan(950);
    expect(
      text
        .trimEnd()
        .split("\n")
        .every((line) => JSON.parse(line).state !== "out"),
    ).toBe(true);
    expect((await one.ended).status).toBe(0);
    expect(one.output()).not.toContain("open requests were cut");
  },
);

describe("Pods are admitted", () => {
  test("without relay variables if the relay's address is invalid, which is logged once", LIMIT, async () => {
    const unfilled = "[$(LASTCALL_WEBHOOK_SERVICE_HOST)]:$(LASTCALL_WEBHOOK_SERVICE_PORT)";
    const one = await replica(await api(), [`--relay-address=${unfilled}`]);
    for (let time = 0; time < 3; time += 1)
      expect(Object.keys((await admitted(one, OWNED)).variables)).not.toContain("LASTCALL_RELAY_ADDRESS");
    expect(one.output().match(/Pods are injected without the relay/g)).toHaveLength(1);
  });

  test("without relay access while the Secret is unreadable, and later with relay access", LIMIT, async () => {
    const server = await api();
    const refusing = await secretsRefused(server);
    const one = await replica(refusing);
    expect(Object.keys((await admitted(one, OWNED)).variables)).toContain("LASTCALL_TOKEN");
    expect(Object.keys((await admitted(one, OWNED)).variables)).not.toContain("LASTCALL_RELAY_CA");
    expect((await sendRequest(one, { path: "/readyz" })).status).toBe(200);
    expect(await metricsWithRelay(one)).toContain("lastcall_relay_identity_ready 0");
    await eventually(() => expect(one.output()).toContain("cannot reconcile the relay's Secret"));
    refusing.refuses = false;
    await eventually(async () =>
      expect(Object.keys((await admitted(one, OWNED)).variables)).toContain("LASTCALL_RELAY_CA"),
    );
  });

  test("without a credential for a namespace until that namespace exists", LIMIT, async () => {
    const server = await api();
    server.remove("/api/v1/namespaces", "shop");
    const one = await replica(server);
    const { variables } = await admitted(one, OWNED);
    expect(Object.keys(variables)).toContain("LASTCALL_TOKEN");
    expect(Object.keys(variables)).not.toContain("LASTCALL_RELAY_CREDENTIAL");
    server.put("/api/v1/namespaces", { metadata: { name: "shop" } });
    await eventually(async () =>
      expect(Object.keys((await admitted(one, OWNED)).variables)).toContain("LASTCALL_RELAY_CREDENTIAL"),
    );
  });

  test("with relay access even while this replica's relay port is in use", LIMIT, async () => {
    const taken = createServer();
    const port = await listenOnOwnPort(taken, "127.0.0.1");
    cleanups.push(() => taken.close());
    const args = ["--relay-address=10.96.0.7:443", `--relay-port=${port}`];
    const one = await replica(await api(), args);
    await eventually(() => expect(one.output()).toMatch(/restarting it[\s\S]*restarting it/));
    const { variables } = await given(one, OWNED);
    expect((await sendRequest(one, { path: "/readyz" })).status).toBe(200);
    const without = (await sendRequest(one, { path: "/metrics" })).body;
    expect(without).toMatch(/^lastcall_relay_thread_starts_total ([2-9]|[1-9][0-9]+)$/m);
    expect(without).toContain("lastcall_admissions_total");
    expect(one.output()).toContain(`the relay's port ${port} of 127.0.0.1 is in use by another process`);
    await new Promise((resolve) => taken.close(resolve));
    expect((await askRelay(one, variables, NOTICE)).status).toBe(204);
    const metrics = await metricsWithRelay(one);
    expect(metrics).toMatch(/^lastcall_drains_total\{outcome="drained"\} 1$/m);
  });

  test("with priority, since only the relay's thread has a lower one", LIMIT, async () => {
    const one = await replica(await api());
    await given(one, OWNED);
    const nicenesses = readdirSync(`/proc/${one.pid}/task`).map((thread) => {
      const text = readFileSync(`/proc/${one.pid}/task/${thread}/stat`, "utf8");
      return Number(text.slice(text.lastIndexOf(")")).split(" ")[17]);
    });
    const own = getPriority(process.pid);
    expect(nicenesses.filter((niceness) => niceness !== own)).toEqual([RELAY_NICENESS]);
  });

  test("even if the admin port, which serves recent drains, is in use", LIMIT, async () => {
    const taken = createServer();
    const port = await listenOnOwnPort(taken, "::");
    cleanups.push(() => taken.close());
    const args = ["--relay-address=10.96.0.7:443", `--admin-port=${port}`];
    const server = await api();
    const without = await replica(server, args);
    await eventually(() => expect(without.output()).toContain("cannot show recent drains"));
    expect((await sendRequest(without, { path: "/readyz" })).status).toBe(200);
    await new Promise((resolve) => taken.close(resolve));
    const one = await replica(server, args);
    const { variables } = await given(one, OWNED);
    expect((await askRelay(one, variables, NOTICE)).status).toBe(204);
    const shown = await fetch(`http://127.0.0.1:${port}/drains.json?namespace=shop`);
    expect(await shown.json()).toMatchObject({
      version: 1,
      drains: [{ namespace: "shop", pod: "web-0", ownerKind: "ReplicaSet", ownerName: "web-5d9" }],
    });
  });
});

/** Returns the metrics once they include the relay's, for which a busy thread may be too late. */
async function metricsWithRelay(one: Replica): Promise<string> {
  return eventually(async () => {
    const page = (await sendRequest(one, { path: "/metrics" })).body;
    expect(page).toMatch(/^lastcall_relay_answering 1$/m);
    return page;
  });
}

/** Opens a connection with the relay's server name and sends only this text. */
function silentAt({ relayPort }: Replica, variables: Variables, text: string): Promise<void> {
  return new Promise((resolve) => {
    const servername = variables["LASTCALL_RELAY_NAME"] ?? "";
    const socket = connect({ host: "127.0.0.1", port: relayPort(), servername, rejectUnauthorized: false }, () => {
      socket.write(text, () => resolve());
    });
    socket.on("error", () => undefined);
    cleanups.push(() => socket.destroy());
  });
}

/** The same API server, which forbids reading Secrets until the test allows it. */
async function secretsRefused(server: FakeApiServer): Promise<{ readonly url: string; refuses: boolean }> {
  const proxy = createServer((request, response) => {
    if (gate.refuses && request.url?.includes("/secrets") === true) {
      response.writeHead(403, { "content-type": "application/json" }).end('{"message":"may not"}');
      return;
    }
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "GET", url } = request;
      const body = chunks.length === 0 ? {} : { body: Buffer.concat(chunks).toString() };
      const passOn = async (): Promise<void> => {
        const answer = await fetch(`${server.url}${url}`, { method, ...body });
        response.writeHead(answer.status, { "content-type": "application/json" }).end(await answer.text());
      };
      // The test cuts the watch at its end.
      passOn().catch(() => response.destroy());
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  cleanups.push(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  const gate = { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, refuses: true };
  return gate;
}
