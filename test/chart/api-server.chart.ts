import type { ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rootCertificates } from "node:tls";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RawObject } from "../../src/kubernetes/raw-json.ts";
import type { RelaySettings } from "../../src/manager/relay/relay-settings.ts";
import { failClosedCopies } from "../../src/webhook/enforcement/fail-closed-copies.ts";
import { someReport } from "../drain-history/some-drain.ts";
import { eventually } from "../time/eventually.ts";
import { type ApiResponse, type ApiServer, killProgram, sendHttps, startApiServer } from "./api-server.ts";
import { readDocumentedPolicy } from "./documented-policy.ts";
import { POD_CASES, type PodCase, podOf } from "./real-pods.ts";
import { relayOf, sendReport, watchWithdrawal } from "./relayed-pod.ts";
import { HAS_LOW_PORTS, runSelfTest, startWebhook } from "./release-programs.ts";
import { at, listOf } from "./rendering.ts";
import { readServedMetrics } from "./served-metrics.ts";

const CONFIGURATION = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/drain.lastcall.dev";
const ENFORCING_CONFIGURATION = CONFIGURATION.replace("drain", "enforce");
const SECRET = "/api/v1/namespaces/lastcall/secrets/lastcall-ca";
const RELAY_SECRET = "/api/v1/namespaces/lastcall/secrets/lastcall-relay";
const UNINJECTED_WARNING = "should be injected and was created without injection";

const folder = mkdtempSync(join(tmpdir(), "lastcall-webhook-"));
let api: ApiServer;

// The first run may build the API server.
beforeAll(async () => {
  api = await startApiServer();
  for (const name of ["lastcall", "shop", "plain"]) {
    const labels = name === "plain" ? {} : { "lastcall.dev/inject": "enabled" };
    await sendOrThrow("POST", "/api/v1/namespaces", {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name, labels },
    });
  }
}, 1_800_000);

afterAll(async () => {
  await api?.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function sendOrThrow(...request: Parameters<ApiServer["send"]>): Promise<ApiResponse> {
  const response = await api.send(...request);
  if (response.status >= 300) throw new Error(`${request[0]} ${request[1]}: ${JSON.stringify(response.body)}`);
  return response;
}

async function runHelm(...command: Parameters<ApiServer["helm"]>): Promise<void> {
  const { status, stderr } = await api.helm(...command);
  if (status !== 0) throw new Error(stderr);
}

const readObject = async (path: string): Promise<unknown> => (await sendOrThrow("GET", path)).body;
const createAsDryRun = (pod: PodCase): Promise<ApiResponse> =>
  api.send("POST", `/api/v1/namespaces/${pod.namespace}/pods?dryRun=All`, podOf(pod));

async function readFailurePolicies(): Promise<readonly unknown[]> {
  return listOf(await readObject(ENFORCING_CONFIGURATION), "webhooks").map((webhook) => at(webhook, "failurePolicy"));
}

/** Copies the webhooks with `failurePolicy: Fail` into the second configuration, as replicas do after the proof of injection. */
async function addFailClosedCopies(): Promise<readonly RawObject[]> {
  const copies = failClosedCopies(listOf<RawObject>(await readObject(CONFIGURATION), "webhooks"));
  await sendOrThrow("PATCH", `${ENFORCING_CONFIGURATION}?fieldManager=lastcall`, [
    { op: "add", path: "/webhooks", value: copies },
  ]);
  return copies;
}

/** Returns `PATH NAME` of each object at these paths whose name matches, in all namespaces. */
async function findObjects(pattern: RegExp, paths: readonly string[]): Promise<readonly string[]> {
  const objects: string[] = [];
  for (const path of paths) {
    const items = listOf<{ readonly metadata: { readonly name: string } }>(await readObject(path), "items");
    for (const { metadata } of items) if (pattern.test(metadata.name)) objects.push(`${path} ${metadata.name}`);
  }
  return objects;
}

const statusAnnotationOf = (response: ApiResponse): unknown =>
  at(response.body, "metadata", "annotations", "lastcall.dev/status");
/** Warning texts are quoted strings (RFC 9110), which parse as JSON. */
const warningTextsOf = ({ warnings }: ApiResponse): readonly string[] => warnings.map((text) => JSON.parse(text));
const isMissedInjectionReported = (response: ApiResponse): boolean =>
  response.warnings.some((warning) => warning.includes(UNINJECTED_WARNING));

describe("a Helm release on a real API server", () => {
  test("with failurePolicy Fail admits Pods before a dry run has proved injection", async () => {
    const { status, stderr } = await api.helm("install", { failurePolicy: "Fail" });
    expect([status, stderr]).toEqual([0, ""]);
    expect(listOf(await readObject(ENFORCING_CONFIGURATION), "webhooks")).toEqual([]);
    expect((await createAsDryRun(POD_CASES[0] as PodCase)).status).toBe(201);
    await runHelm("uninstall");
  });

  test("installs without a warning", async () => {
    const { status, stderr } = await api.helm("install");
    expect([status, stderr]).toEqual([0, ""]);
  });

  test("has a ValidatingAdmissionPolicy whose expressions compile without warnings", async () => {
    const policy = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/uninjected.lastcall.dev";
    const { body } = await sendOrThrow("GET", policy);
    expect(at(body, "spec", "validations", 0, "reason")).toBe("Invalid");
    expect(at(body, "status", "typeChecking", "expressionWarnings")).toBeUndefined();
  });

  test("keeps its CA, caBundle and fail-closed copies in an upgrade, and does not have copies after a rollback to failurePolicy Ignore", async () => {
    const [root = ""] = rootCertificates;
    const caBundle = Buffer.from(root).toString("base64");
    const data = { "ca.crt": caBundle, "ca.key": Buffer.from("not a key").toString("base64") };
    await sendOrThrow("PATCH", `${SECRET}?fieldManager=lastcall`, { data });
    const paths = [0, 1, 2, 3].map((index) => `/webhooks/${index}/clientConfig/caBundle`);
    await sendOrThrow(
      "PATCH",
      `${CONFIGURATION}?fieldManager=lastcall`,
      paths.map((path) => ({ op: "add", path, value: caBundle })),
    );
    const readState = async () => ({
      data: at(await readObject(SECRET), "data"),
      bundles: listOf(await readObject(CONFIGURATION), "webhooks").map((webhook) =>
        at(webhook, "clientConfig", "caBundle"),
      ),
    });
    const expectedState = { data, bundles: paths.map(() => caBundle) };
    await runHelm("upgrade", { webhook: { replicas: 3 }, policy: { onInvalid: "skip" } });
    expect(await readState()).toEqual(expectedState);
    await runHelm("upgrade", { failurePolicy: "Fail" });
    const copies = await addFailClosedCopies();
    for (const replicas of [2, 3]) {
      for (const helmArgs of [[], ["--server-side=false"]]) {
        await runHelm("upgrade", { failurePolicy: "Fail", webhook: { replicas } }, helmArgs);
        expect([await readState(), listOf(await readObject(ENFORCING_CONFIGURATION), "webhooks")]).toEqual([
          expectedState,
          copies,
        ]);
      }
    }
    await runHelm("rollback", {}, ["1"]);
    expect(await readState()).toEqual(expectedState);
    expect((await api.send("GET", ENFORCING_CONFIGURATION)).status).toBe(404);
  });

  test("can be installed beside another release only with a revision", async () => {
    const twin = await api.helm("install", { fullnameOverride: "twin" }, [], "twin");
    expect(twin.stderr).toContain("cannot be imported into the current release");
    const canary = await api.helm("install", { revision: "canary" }, [], "canary");
    expect([canary.status, canary.stderr]).toEqual([0, ""]);
    expect(listOf(await readObject(CONFIGURATION.replace("drain", "drain-canary")), "webhooks")).toHaveLength(6);
    expect((await api.helm("uninstall", {}, [], "canary")).status).toBe(0);
    expect(await findObjects(/canary/, LISTED_PATHS)).toEqual([]);
    expect(listOf(await readObject(CONFIGURATION), "webhooks")).toHaveLength(4);
  });

  test("has a documented NetworkPolicy that the API server accepts without warnings", async () => {
    const path = "/apis/networking.k8s.io/v1/namespaces/shop/networkpolicies?dryRun=All&fieldValidation=Strict";
    const { status, warnings } = await api.send("POST", path, readDocumentedPolicy());
    expect([status, warnings]).toEqual([201, []]);
  });

  describe("whose webhook is reachable", () => {
    let webhook: ChildProcess;

    beforeAll(async () => {
      webhook = await startWebhook(api, folder);
      const first = POD_CASES[0] as PodCase;
      await eventually(async () => expect(statusAnnotationOf(await createAsDryRun(first))).toBeDefined());
    });

    afterAll(async () => killProgram(webhook));

    test("repairs a damaged Secret and writes the CA into the caBundle", async () => {
      const data = at(await readObject(SECRET), "data") as Record<string, string>;
      expect(Buffer.from(data["ca.key"] ?? "", "base64").toString()).toContain("PRIVATE KEY");
      for (const entry of listOf(await readObject(CONFIGURATION), "webhooks")) {
        const bundle = Buffer.from(String(at(entry, "clientConfig", "caBundle")), "base64").toString();
        expect(bundle).toContain(
          Buffer.from(data["ca.crt"] ?? "", "base64")
            .toString()
            .trim(),
        );
      }
    });

    test("sends warnings about invalid settings of a namespace and a workload, and does not change an object", async () => {
      const metadata = { name: "typos", labels: { "lastcall.dev/inject": "true" } };
      const namespaceResponse = await sendOrThrow("POST", "/api/v1/namespaces", {
        apiVersion: "v1",
        kind: "Namespace",
        metadata,
      });
      expect(warningTextsOf(namespaceResponse)).toEqual([
        'lastcall: namespace typos, label lastcall.dev/inject: Got "true", expected one of enabled, disabled.',
      ]);
      const template = {
        metadata: { labels: { app: "web" }, annotations: { "lastcall.dev/drian-delay": "5s" } },
        spec: { containers: [{ name: "app", image: "shop/web:1" }] },
      };
      const deployment = {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name: "web" },
        spec: { selector: { matchLabels: { app: "web" } }, template },
      };
      const response = await sendOrThrow("POST", "/apis/apps/v1/namespaces/typos/deployments", deployment);
      expect(warningTextsOf(response)).toEqual([
        'lastcall: pod of Deployment/web: "lastcall.dev/drian-delay" is unknown; did you mean lastcall.dev/drain-delay?',
      ]);
      expect(at(response.body, "spec", "template", "metadata", "annotations")).toEqual(template.metadata.annotations);
    });

    test("records an Event about invalid settings of a stored namespace", async () => {
      const patch = { metadata: { annotations: { "lastcall.dev/mode": "hook" } } };
      await sendOrThrow("PATCH", "/api/v1/namespaces/plain", patch);
      await eventually(async () => {
        const events = listOf(await readObject("/api/v1/namespaces/plain/events"), "items");
        expect(events.map((event) => [at(event, "reason"), at(event, "involvedObject", "kind")])).toContainEqual([
          "BadValue",
          "Namespace",
        ]);
      });
      await sendOrThrow("PATCH", "/api/v1/namespaces/plain", {
        metadata: { annotations: { "lastcall.dev/mode": null } },
      });
    });

    test("sends a warning about a Pod that opts in by annotation alone", async () => {
      const pod = {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: "web", annotations: { "lastcall.dev/inject": "enabled" } },
        spec: { containers: [{ name: "app", image: "shop/web:1" }] },
      };
      const response = await sendOrThrow("POST", "/api/v1/namespaces/plain/pods?dryRun=All", pod);
      expect(warningTextsOf(response)).toEqual([
        "lastcall: pod web, annotation lastcall.dev/inject: The annotation has no effect, because webhook selectors match only labels. Set the label.",
      ]);
      expect(statusAnnotationOf(response)).toBeUndefined();
    });

    test("passes the self-test", async () => {
      const { status, stdout, stderr } = await runSelfTest(["--namespace=plain"], api.kubeconfig);
      expect([status, stderr]).toEqual([0, ""]);
      expect(stdout).toBe("A Pod that opts in is injected in namespace plain, and one that opts out is not.\n");
    });

    test.for(POD_CASES)(
      "admits $title with the outcome `$outcome`, and does not report a missing injection",
      async (pod) => {
        const response = await createAsDryRun(pod);
        expect(response.status).toBe(201);
        expect(statusAnnotationOf(response) !== undefined).toBe(pod.outcome === "injected");
        // The reporting policy must not warn about a Pod that lastcall deliberately did not inject.
        expect(isMissedInjectionReported(response)).toBe(false);
        // The API server adds its own warnings, for example about deprecated labels.
        const lastcallWarnings = response.warnings.filter((warning) => warning.includes("lastcall"));
        if (pod.outcome === "not selected") expect(lastcallWarnings).toEqual([]);
      },
    );

    // Only root can listen on port 443. For other users the test changes the Service's port, which an upgrade would reset.
    describe.runIf(HAS_LOW_PORTS)("and with failurePolicy Fail", () => {
      const account = "system:serviceaccount:lastcall:lastcall-webhook";
      const readMetrics = async (): Promise<string> => {
        const service = await readObject("/api/v1/namespaces/lastcall/services/lastcall-webhook");
        return (await sendHttps({ host: String(at(service, "spec", "clusterIP")), port: 443, path: "/metrics" })).text;
      };

      test("adds copies of the webhooks with failurePolicy Fail after a dry run has proved injection, and still injects", async () => {
        await runHelm("upgrade", { failurePolicy: "Fail", webhook: { extraArgs: ["--certificate-check=500ms"] } });
        await killProgram(webhook);
        webhook = await startWebhook(api, folder);
        await eventually(async () => expect(await readFailurePolicies()).toEqual(["Fail", "Fail"]));
        await eventually(async () => expect(await readMetrics()).toContain("\nlastcall_enforcing 1\n"));
        for (const pod of POD_CASES) {
          const response = await createAsDryRun(pod);
          expect([pod.title, response.status, statusAnnotationOf(response) !== undefined]).toEqual([
            pod.title,
            201,
            pod.outcome === "injected",
          ]);
        }
      });

      test("receives one admission request for an injected Pod, and two for a skipped Pod", async () => {
        const countAdmissions = async (): Promise<number> =>
          [...(await readMetrics()).matchAll(/^lastcall_admissions_total\S* ([0-9]+)$/gm)].reduce(
            (sum, [, count]) => sum + Number(count),
            0,
          );
        const countCallsFor = async (outcome: PodCase["outcome"]): Promise<number> => {
          const before = await countAdmissions();
          await createAsDryRun(POD_CASES.find((pod) => pod.outcome === outcome) as PodCase);
          return (await countAdmissions()) - before;
        };
        expect(await countCallsFor("injected")).toBe(1);
        expect(await countCallsFor("skipped")).toBe(2);
      });

      test("has a ServiceAccount that is allowed to write only the fail-closed copies", async () => {
        const patch = (operation: object) =>
          api.send("PATCH", `${ENFORCING_CONFIGURATION}?dryRun=All`, [operation], account);
        const copies = listOf(await readObject(ENFORCING_CONFIGURATION), "webhooks");
        expect((await patch({ op: "add", path: "/webhooks", value: copies })).status).toBe(200);
        const falseCondition = { name: "never-true", expression: "object.spec.nothing == 'here'" };
        for (const operation of [
          { op: "add", path: "/webhooks", value: [] },
          { op: "remove", path: "/webhooks" },
          { op: "remove", path: "/webhooks/0" },
          { op: "add", path: "/webhooks/0/matchConditions/-", value: falseCondition },
          { op: "replace", path: "/webhooks/0/matchConditions/4/expression", value: "false" },
          { op: "replace", path: "/webhooks/0/failurePolicy", value: "Ignore" },
          { op: "add", path: "/webhooks/0/rules/0/resources/-", value: "secrets" },
          { op: "replace", path: "/webhooks/0/namespaceSelector", value: {} },
          { op: "remove", path: "/webhooks/0/matchConditions/0" },
          { op: "replace", path: "/webhooks/0/clientConfig/service/namespace", value: "default" },
          { op: "replace", path: "/webhooks/0/name", value: "other.drain.lastcall.dev" },
          { op: "add", path: "/metadata/labels/other", value: "label" },
        ]) {
          const { status, body } = await patch(operation);
          expect([operation.path, status]).toEqual([operation.path, 403]);
          expect(String(at(body, "message"))).toContain("only with copies of drain.lastcall.dev");
        }
      });

      test("has a ServiceAccount that is allowed to create Pods only as a dry run", async () => {
        const pod = podOf({ ...(POD_CASES[0] as PodCase), namespace: "default" });
        const createPod = (query: string) => api.send("POST", `/api/v1/namespaces/default/pods${query}`, pod, account);
        expect((await createPod("?dryRun=All")).status).toBe(201);
        expect(String(at((await createPod("")).body, "message"))).toContain("may create Pods as a dry run only");
      });

      test("stops enforcement after an upgrade to Ignore, even if no replica is reachable", async () => {
        await killProgram(webhook);
        await eventually(async () => expect((await createAsDryRun(POD_CASES[0] as PodCase)).status).toBe(500));
        await runHelm("upgrade", { failurePolicy: "Ignore" });
        await eventually(async () => expect((await createAsDryRun(POD_CASES[0] as PodCase)).status).toBe(201));
        webhook = await startWebhook(api, folder);
        await eventually(async () =>
          expect(statusAnnotationOf(await createAsDryRun(POD_CASES[0] as PodCase))).toBeDefined(),
        );
      });
    });

    test.runIf(HAS_LOW_PORTS)("recreates a deleted Secret, and later Helm upgrades adopt that Secret", async () => {
      await sendOrThrow("DELETE", SECRET);
      await eventually(async () => expect((await api.send("GET", SECRET)).status).toBe(200));
      const createdCa = at(await readObject(SECRET), "data", "next.crt");
      expect(createdCa).toBeTypeOf("string");
      await runHelm("upgrade", { webhook: { replicas: 3 } });
      await runHelm("upgrade", { webhook: { replicas: 3 } }, ["--server-side=false"]);
      const secret = await readObject(SECRET);
      expect(at(secret, "metadata", "labels", "app.kubernetes.io/managed-by")).toBe("Helm");
      // A new CA signs only after a delay; then its certificate moves from next.crt to ca.crt.
      expect([at(secret, "data", "next.crt"), at(secret, "data", "ca.crt")]).toContain(createdCa);
    });

    describe("has a relay that", () => {
      const podIdentity = { name: "web-1", uid: "0f0e0d0c-0000-4000-8000-000000000001", address: "10.1.2.3" };
      const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-7d9f", uid: "rs-1", controller: true };
      const SLICES = "/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices";
      let relay: RelaySettings;

      beforeAll(async () => {
        const metadata = { name: podIdentity.name, ownerReferences: [owner] };
        const pod = { ...(POD_CASES[0] as PodCase), metadata };
        // The variables are injected only after a replica has filled the relay's Secret.
        await eventually(async () =>
          expect(JSON.stringify((await createAsDryRun(pod)).body)).toContain("LASTCALL_RELAY_ADDRESS"),
        );
        relay = relayOf((await createAsDryRun(pod)).body, podIdentity);
      });

      test("has the address of the Service in injected Pods", async () => {
        const service = await readObject("/api/v1/namespaces/lastcall/services/lastcall-webhook");
        expect(at(service, "spec", "ports", 1, "name")).toBe("relay");
        const endpoint = { address: at(service, "spec", "clusterIP"), port: at(service, "spec", "ports", 1, "port") };
        expect(relay.endpoint).toEqual(endpoint);
      });

      test("sends a Pod's status after changes of its EndpointSlices", async () => {
        const session = watchWithdrawal(relay);
        const expectState = (state: string) => eventually(() => expect(session.lastLine()?.state).toBe(state));
        try {
          await expectState("out");
          const targetRef = { kind: "Pod", namespace: "shop", name: podIdentity.name, uid: podIdentity.uid };
          await sendOrThrow("POST", SLICES, {
            ...{ apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice", addressType: "IPv4" },
            metadata: { name: "web-abc", labels: { "kubernetes.io/service-name": "web" } },
            endpoints: [{ addresses: [podIdentity.address], conditions: { ready: true }, targetRef }],
          });
          await expectState("in");
          expect(session.lastLine()).toMatchObject({ terminating: false });
          const conditions = { ready: false, serving: true, terminating: true };
          await sendOrThrow("PATCH", `${SLICES}/web-abc`, [
            { op: "replace", path: "/endpoints/0/conditions", value: conditions },
          ]);
          await eventually(() => expect(session.lastLine()?.terminating).toBe(true));
          await sendOrThrow("DELETE", `${SLICES}/web-abc`);
          await expectState("out");
          expect(session.failure()).toBe("");
        } finally {
          session.stop();
        }
      });

      test("accepts the report of a drain, serves it and records an Event on the owner", async () => {
        expect(await sendReport(relay, someReport())).toBe("");
        const log = readFileSync(join(folder, "node.log"), "utf8");
        const port = [...log.matchAll(/"adminPort":([0-9]+)/g)].at(-1)?.[1];
        const response = await fetch(`http://127.0.0.1:${port}/drains.json?namespace=shop`);
        expect(at(await response.json(), "drains", 0)).toMatchObject({
          pod: podIdentity.name,
          report: { outcome: "drained" },
        });
        const events = "/api/v1/namespaces/shop/events?fieldSelector=reason=Drained";
        await eventually(async () => expect(listOf(await readObject(events), "items")).toHaveLength(1));
        expect(at(await readObject(events), "items", 0, "involvedObject")).toMatchObject({
          kind: "ReplicaSet",
          name: owner.name,
        });
      });

      test("recreates its Secret, whose content is the same after an upgrade", async () => {
        await sendOrThrow("DELETE", RELAY_SECRET);
        await eventually(async () => expect((await api.send("GET", RELAY_SECRET)).status).toBe(200));
        const data = at(await readObject(RELAY_SECRET), "data") as object;
        expect(Object.keys(data).filter((name) => /^ca-.*\.key$|^sign-/.test(name))).toHaveLength(2);
        await runHelm("upgrade", { webhook: { replicas: 3 } });
        await runHelm("upgrade", { webhook: { replicas: 3 } }, ["--server-side=false"]);
        expect(at(await readObject(RELAY_SECRET), "data")).toEqual(data);
        expect(at(await readObject(RELAY_SECRET), "metadata", "labels", "app.kubernetes.io/managed-by")).toBe("Helm");
      });

      test("exports all metrics of the alerts and the dashboard", async () => {
        const service = await readObject("/api/v1/namespaces/lastcall/services/lastcall-webhook");
        const { address } = relay.endpoint;
        const port = Number(at(service, "spec", "ports", 0, "port"));
        const { text } = await sendHttps({ host: address, port, path: "/metrics" });
        const servedNames = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map((match) => match[1]));
        const expectedNames = [...(await readServedMetrics()).keys()].map((name) =>
          name.replace(/_(bucket|sum|count)$/, ""),
        );
        // Both metrics exist only with failurePolicy Fail.
        expect(expectedNames.filter((name) => !servedNames.has(name)).sort()).toEqual([
          "lastcall_enforcement_blocked",
          "lastcall_enforcing",
        ]);
      });
    });

    test("does not get status 401 or 403 from the API server with the permissions of the chart", () => {
      const log = readFileSync(join(folder, "node.log"), "utf8");
      expect(log).toContain('"msg":"listening"');
      // Matches an HTTP status, but not milliseconds or the end of a uid.
      expect(log.split("\n").filter((line) => /forbidden|(?<![\w.])40[13]\b/i.test(line))).toEqual([]);
    });
  });

  describe("whose webhook is unreachable", () => {
    test("fails the self-test with a message", async () => {
      const { status, stderr } = await runSelfTest(["--namespace=plain", "--wait=2s"], api.kubeconfig);
      expect(status).toBe(1);
      expect(stderr).toContain("was not injected");
      expect(stderr).toContain("injection did not work within 2s");
    });

    test.for(POD_CASES)(
      "admits $title, and reports the missing injection exactly if the Pod would have been injected",
      async (pod) => {
        const response = await createAsDryRun(pod);
        expect([response.status, statusAnnotationOf(response)]).toEqual([201, undefined]);
        expect(isMissedInjectionReported(response)).toBe(pod.outcome === "injected");
      },
    );

    test("sends a warning about a manager without restartPolicy Always, because such a Pod would never start", async () => {
      const spec = { initContainers: [{ name: "lastcall", image: "m" }] };
      const damagedPod: PodCase = { title: "", namespace: "shop", spec, outcome: "injected" };
      const { warnings } = await createAsDryRun(damagedPod);
      expect(warnings).toEqual([expect.stringContaining("removed restartPolicy: Always")]);
    });

    test("with failurePolicy Fail rejects only the Pods that the webhook selects", async () => {
      await runHelm("upgrade", { failurePolicy: "Fail" });
      await addFailClosedCopies();
      await eventually(async () => expect((await createAsDryRun(POD_CASES[0] as PodCase)).status).toBe(500));
      const rejectedTitles: string[] = [];
      for (const pod of POD_CASES) if ((await createAsDryRun(pod)).status !== 201) rejectedTitles.push(pod.title);
      expect(rejectedTitles).toEqual(POD_CASES.filter((pod) => pod.outcome !== "not selected").map((pod) => pod.title));
    });
  });

  test("does not leave an object behind after its uninstallation, even with failurePolicy Fail and an unreachable webhook", async () => {
    await runHelm("uninstall");
    expect(await findObjects(/lastcall/, LISTED_PATHS)).toEqual(["/api/v1/namespaces lastcall"]);
    await eventually(async () => expect((await createAsDryRun(POD_CASES[0] as PodCase)).status).toBe(201));
  });
});

const ADMISSION_GROUP = "/apis/admissionregistration.k8s.io/v1";
const RBAC_GROUP = "/apis/rbac.authorization.k8s.io/v1";
const LISTED_PATHS: readonly string[] = [
  ...["namespaces", "secrets", "configmaps", "services", "serviceaccounts", "pods"].map((kind) => `/api/v1/${kind}`),
  ...["clusterroles", "clusterrolebindings", "roles", "rolebindings"].map((kind) => `${RBAC_GROUP}/${kind}`),
  ...["mutatingwebhookconfigurations", "validatingadmissionpolicies", "validatingadmissionpolicybindings"].map(
    (kind) => `${ADMISSION_GROUP}/${kind}`,
  ),
  "/apis/apps/v1/deployments",
  "/apis/policy/v1/poddisruptionbudgets",
  "/apis/networking.k8s.io/v1/networkpolicies",
];
