/** Tests the webhook process with a fake API server: cached objects change its patches, and problems become Events. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type FakeApiServer, kubeconfigFor, startFakeApiServer } from "../../api-server/fake-api-server.ts";
import { eventually } from "../../time/eventually.ts";
import { reviewText } from "../pod-review.ts";
import { type RunningWebhook, sendRequest, spawnWebhook, startWebhook } from "../running-webhook.ts";
import { samplesOf } from "../server-under-test.ts";

// Each test starts the webhook, and loading the Kubernetes client takes seconds on a busy machine.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 150_000 });

const NAMESPACES = "/api/v1/namespaces";
const OWNER = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-7d9f", uid: "u-1", controller: true };

let server: FakeApiServer;
let folder: string;
const webhooks: Promise<RunningWebhook>[] = [];

beforeEach(async () => {
  server = await startFakeApiServer();
  folder = mkdtempSync(join(tmpdir(), "lastcall-cluster-"));
  server.put(NAMESPACES, {
    metadata: { name: "shop", annotations: { "lastcall.dev/drain-delay": "9s", "other/annotation": "x" } },
  });
  server.put("/api/v1/nodes", createNode("n1", "v1.29.3"));
});

afterEach(async () => {
  await Promise.all(webhooks.splice(0).map((each) => each.then(({ destroy }) => destroy()).catch(() => undefined)));
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

function createNode(name: string, kubeletVersion: string) {
  return { metadata: { name }, status: { nodeInfo: { operatingSystem: "linux", kubeletVersion } } };
}

function createClusterArgs(...args: readonly string[]): readonly string[] {
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(kubeconfig, kubeconfigFor(server.url));
  return ["--opt-in=all", "--drain-delay=0s", "--cluster=watch", `--kubeconfig=${kubeconfig}`, ...args];
}

function startInCluster(...args: readonly string[]): Promise<RunningWebhook> {
  return startWithArgs(createClusterArgs(...args));
}

function startWithArgs(args: readonly string[]): Promise<RunningWebhook> {
  const starting = startWebhook(args);
  webhooks.push(starting);
  return starting;
}

type ReviewOptions = { readonly namespace?: string; readonly annotations?: object; readonly dryRun?: boolean };

async function admit(
  running: RunningWebhook,
  { namespace = "shop", annotations = {}, dryRun = false }: ReviewOptions = {},
) {
  const metadata = { generateName: "web-7d9f-", annotations, ownerReferences: [OWNER] };
  const object = { metadata, spec: { containers: [{ name: "app", image: "a" }] } };
  const { body, status } = await sendRequest(running, {
    path: "/mutate",
    body: reviewText({ object, namespace, dryRun }),
  });
  expect(status).toBe(200);
  const { response } = JSON.parse(body);
  const patch = Buffer.from(response.patch ?? btoa("[]"), "base64").toString();
  return { patch, warnings: (response.warnings ?? []) as readonly string[] };
}

const readMetrics = async (running: RunningWebhook): Promise<string> =>
  (await sendRequest(running, { path: "/metrics" })).body;

test("annotations of a namespace apply to its Pods, and changed annotations apply to later Pods", async () => {
  const running = await startInCluster();
  expect((await admit(running)).patch).toContain("--drain-delay=9s");
  server.put(NAMESPACES, { metadata: { name: "shop", annotations: { "lastcall.dev/drain-delay": "8s" } } });
  await eventually(async () => expect((await admit(running)).patch).toContain("--drain-delay=8s"));
});

test("the manager is a native sidecar if the API server and all nodes support native sidecars", async () => {
  const oldWebhook = await startInCluster("--kube-version=1.30");
  expect((await admit(oldWebhook)).patch).toContain('"restartPolicy":"Always"');
  server.put("/api/v1/nodes", createNode("n2", "v1.28.9"));
  await eventually(async () => expect((await admit(oldWebhook)).patch).not.toContain('"restartPolicy":"Always"'));
  await oldWebhook.destroy();
  expect((await admit(await startInCluster("--kube-version=auto"))).patch).toContain('"restartPolicy":"Always"');
});

test("the admission of a Pod in a new namespace waits until the watch delivers that namespace", async () => {
  const running = await startInCluster();
  const patches: string[] = [];
  // The admission is repeated, because it does not wait for the namespace if the host pauses for longer than the lookup limit.
  for (let at = 0; at < 10; at += 1) {
    const name = `fresh-${at}`;
    const admission = admit(running, { namespace: name });
    // The response to this review proves that the previous review has arrived and waits for the new namespace.
    await admit(running);
    server.put(NAMESPACES, { metadata: { name, annotations: { "lastcall.dev/drain-delay": "7s" } } });
    patches.push((await admission).patch);
  }
  expect(patches.filter((patch) => patch.includes("--drain-delay=7s")).length).toBeGreaterThan(0);
});

test("a namespace that the watch omits is reported as unknown until the next watch delivers it", async () => {
  const running = await startInCluster();
  server.faults.hasSilentWatches = true;
  server.put(NAMESPACES, { metadata: { name: "fresh", annotations: { "lastcall.dev/drain-delay": "7s" } } });
  const unknownAdmission = await admit(running, { namespace: "fresh" });
  expect(unknownAdmission.patch).toContain("--drain-delay=5s");
  expect(unknownAdmission.warnings.join()).toContain(
    "namespace fresh: The API server did not report the namespace's annotations",
  );
  server.faults.hasSilentWatches = false;
  const watches = server.requests.filter((request) => request.includes("/namespaces?watch="));
  const [, seconds] = /timeoutSeconds=([0-9]+)/.exec(watches.at(-1) ?? "") ?? [];
  // The watch is short, because a broken connection can hide new namespaces until the watch ends.
  expect(Number(seconds)).toBe(30);
  server.endWatches(true);
  await eventually(async () =>
    expect((await admit(running, { namespace: "fresh" })).patch).toContain("--drain-delay=7s"),
  );
});

test("reviews of unknown namespaces do not cause an API request or an Event", async () => {
  const running = await startInCluster();
  const cacheRequests = /^GET \/(version|api\/v1\/(namespaces|nodes|limitranges)(\?.*)?)$/;
  const invalidSettings = { annotations: { "lastcall.dev/drain-timeout": "30" } };
  const names = [...Array.from({ length: 50 }, (_, at) => `made-up-${at}`), "../../secrets", "Shop", "a".repeat(64)];
  await Promise.all(names.map((namespace) => admit(running, { namespace, ...invalidSettings })));
  // Events are sent in order, so an Event of the earlier reviews would be sent before the Event of this review.
  await admit(running, invalidSettings);
  await eventually(() => expect(server.createdObjects).toHaveLength(1));
  expect(server.createdObjects[0]?.metadata.namespace).toBe("shop");
  const causedRequests = server.requests.filter((request) => !cacheRequests.test(request));
  process.stdout.write(
    `${names.length} reviews of unknown namespaces caused ${causedRequests.length - 1} requests and no Event\n`,
  );
  expect(causedRequests).toEqual(["POST /api/v1/namespaces/shop/events"]);
  const events = samplesOf(await readMetrics(running), "lastcall_events_total");
  expect(events.get('{result="unknown_namespace"}')).toBe(names.length);
});

test("without an API server the webhook starts, admits Pods, and logs the failure once", async () => {
  server.faults.isUnresponsive = true;
  const running = await startInCluster("--kube-version=auto");
  expect((await sendRequest(running, { path: "/readyz" })).status).toBe(200);
  const { patch, warnings } = await admit(running);
  expect(patch).toContain("--classic");
  expect(warnings.join()).toContain("did not report");
  const metrics = await readMetrics(running);
  expect(samplesOf(metrics, "lastcall_cache_stale").get('{cache="nodes"}')).toBe(1);
  server.faults.isUnresponsive = false;
  server.faults.errorStatus = 503;
});

test("an API server that refuses connections during startup does not end the webhook", async () => {
  const args = createClusterArgs("--kube-version=auto");
  await server.close();
  const webhook = await startWithArgs(args);
  expect((await sendRequest(webhook, { path: "/readyz" })).status).toBe(200);
  expect(webhook.output()).toMatch(/"cache":"nodes".*ECONNREFUSED/);
  server = await startFakeApiServer();
});

test("the failure of the API server is logged once, and the recovery once", async () => {
  const running = await startInCluster();
  server.faults.errorStatus = 503;
  server.endWatches(true);
  const countUnreachable = () => running.output().match(/"cache":"nodes".*API server is unreachable/g)?.length ?? 0;
  await eventually(() => expect(countUnreachable()).toBe(1));
  const countFailures = async () =>
    samplesOf(await readMetrics(running), "lastcall_cache_failures_total").get('{cache="nodes"}') ?? 0;
  await eventually(async () => expect(await countFailures()).toBeGreaterThan(1));
  expect(countUnreachable()).toBe(1);
  expect((await sendRequest(running, { path: "/readyz" })).status).toBe(200);
  expect((await admit(running)).patch).toContain("--drain-delay=9s");
  server.faults.errorStatus = undefined;
  await eventually(() => expect(running.output()).toMatch(/"cache":"nodes".*is reachable again/));
});

test("an invalid setting in many Pods of one controller causes one Event of that controller", async () => {
  const running = await startInCluster();
  for (let pod = 0; pod < 5; pod += 1) await admit(running, { annotations: { "lastcall.dev/drain-timeout": "30" } });
  await eventually(() => expect(server.createdObjects).toHaveLength(1));
  const [event] = server.createdObjects;
  expect(event).toMatchObject({
    kind: "Event",
    metadata: { namespace: "shop" },
    involvedObject: { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-7d9f", uid: "u-1", namespace: "shop" },
    type: "Warning",
    reason: "BadValue",
    count: 1,
  });
  expect(event?.["message"]).toContain('lastcall.dev/drain-timeout: Got "30"');
  const events = samplesOf(await readMetrics(running), "lastcall_events_total");
  expect(events.get('{result="sent"}')).toBe(1);
  expect(events.get('{result="repeated"}')).toBe(4);
});

test("a dry run does not cause an Event", async () => {
  const running = await startInCluster();
  await admit(running, { annotations: { "lastcall.dev/drain-timeout": "30" }, dryRun: true });
  await admit(running, { annotations: { "lastcall.dev/prestop": "never" } });
  await eventually(() => expect(server.createdObjects).toHaveLength(1));
  expect(server.createdObjects[0]?.["message"]).toContain("prestop");
});

test("SIGINT or a port in use ends the webhook, despite open watches of the API server", async () => {
  const running = await startInCluster();
  running.signal("SIGINT");
  expect((await running.ended).status).toBe(0);
  const otherWebhook = await startInCluster();
  const { ended } = spawnWebhook([...createClusterArgs(), `--port=${otherWebhook.port}`, "--host=127.0.0.1"]);
  expect((await ended).status).toBe(1);
});
