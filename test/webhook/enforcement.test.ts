/** Tests when a Helm release enforces failurePolicy Fail, and the webhook entries that its replicas write for this. */
import { Registry } from "prom-client";
import { describe, expect, test } from "vitest";
import type { ApiRequest, ApiResponse } from "../../src/api-server/api-request.ts";
import { objectsAt, type RawObject } from "../../src/kubernetes/raw-json.ts";
import { addEnforcementGauges, enforcerPorts } from "../../src/webhook/enforcement/enforcement-runner.ts";
import {
  type Configurations,
  type Enforcement,
  type EnforcerPorts,
  enforce,
} from "../../src/webhook/enforcement/enforcer.ts";
import { failClosedCopies } from "../../src/webhook/enforcement/fail-closed-copies.ts";

const createWebhook = (name: string, caBundle: string | undefined = "Q0E="): RawObject => ({
  name,
  clientConfig: { service: { name: "lastcall-webhook", path: "/mutate" }, ...(caBundle === "" ? {} : { caBundle }) },
  failurePolicy: "Ignore",
  matchConditions: [{ name: "not-a-mirror-pod", expression: "true" }],
  fieldOfLaterVersions: "kept",
});

const INSTALLED_WEBHOOKS = [createWebhook("namespace.drain.lastcall.dev"), createWebhook("pod.drain.lastcall.dev")];

type ConfigurationOptions = {
  readonly originals?: readonly RawObject[];
  readonly copies?: readonly RawObject[] | undefined;
};

/** Runs one check of a cluster with these webhooks. @param proofError why the dry run failed; "" if it succeeded */
async function check(
  { originals = INSTALLED_WEBHOOKS, ...rest }: ConfigurationOptions,
  proofError = "",
  writeResult: "done" | "conflict" = "done",
) {
  const copies = "copies" in rest ? rest.copies : [];
  const writes: (readonly RawObject[])[] = [];
  let proofCount = 0;
  const configurations: Configurations = {
    originals,
    enforcing: copies === undefined ? undefined : { resourceVersion: "7", webhooks: copies },
  };
  const ports: EnforcerPorts = {
    read: async () => configurations,
    write: async (resourceVersion, webhooks) => {
      expect(resourceVersion).toBe("7");
      writes.push(webhooks);
      return writeResult;
    },
    proveInjection: async () => {
      proofCount += 1;
      return proofError === "" ? undefined : { why: proofError, reason: "other" };
    },
  };
  return { ...(await enforce(ports)), writes, proofCount };
}

describe("a Helm release with failurePolicy Fail", () => {
  test("does not enforce injection until a dry-run Pod is injected", async () => {
    const { isEnforcing, why, writes } = await check({}, "it was not injected");
    expect([isEnforcing, why, writes]).toEqual([false, "it was not injected", []]);
  });

  test("writes a copy of every webhook, with failurePolicy Fail, after a dry-run Pod is injected", async () => {
    expect(await check({})).toMatchObject({
      isEnforcing: true,
      why: "",
      writes: [failClosedCopies(INSTALLED_WEBHOOKS)],
    });
  });

  test("does not send a write or dry run while the copies are up to date", async () => {
    expect(await check({ copies: failClosedCopies(INSTALLED_WEBHOOKS) })).toEqual({
      isEnforcing: true,
      why: "",
      reason: "none",
      writes: [],
      proofCount: 0,
    });
  });

  test("does not copy a webhook that only checks settings", () => {
    const clientConfig = { service: { name: "lastcall-webhook", path: "/settings" }, caBundle: "Q0E=" };
    const settingsWebhook = { ...createWebhook("settings.drain.lastcall.dev"), clientConfig };
    expect(failClosedCopies([...INSTALLED_WEBHOOKS, settingsWebhook])).toEqual(failClosedCopies(INSTALLED_WEBHOOKS));
  });

  test("updates the copies after a change of the webhooks, without another dry run", async () => {
    const changedWebhooks = [
      { ...INSTALLED_WEBHOOKS[0], timeoutSeconds: 9 },
      createWebhook("another.drain.lastcall.dev"),
    ];
    const { isEnforcing, writes, proofCount } = await check(
      { originals: changedWebhooks, copies: failClosedCopies(INSTALLED_WEBHOOKS) },
      "not proven",
    );
    expect([isEnforcing, writes, proofCount]).toEqual([true, [failClosedCopies(changedWebhooks)], 0]);
  });

  test.for([
    { title: "before the caBundle is written", copies: [] },
    { title: "after the caBundle was removed", copies: failClosedCopies(INSTALLED_WEBHOOKS) },
  ])("does not copy a webhook without a caBundle: $title", async ({ copies }) => {
    const { isEnforcing, writes, proofCount } = await check({
      originals: [INSTALLED_WEBHOOKS[0] as RawObject, createWebhook("b", "")],
      copies,
    });
    expect([isEnforcing, writes, proofCount]).toEqual([copies.length > 0, [], 0]);
  });

  test("does not write if it does not have webhooks to copy", async () => {
    expect(await check({ originals: [] })).toMatchObject({ isEnforcing: false, writes: [], proofCount: 0 });
  });

  test("does not create the configuration for the copies if it is missing, and does not enforce injection", async () => {
    expect(await check({ copies: undefined })).toMatchObject({ isEnforcing: false, writes: [], proofCount: 0 });
  });

  test("does not report active enforcement after a write conflict", async () => {
    expect(await check({}, "", "conflict")).toMatchObject({ isEnforcing: false, why: "write conflict, retrying" });
  });
});

describe("the enforcement of injection", () => {
  const SETTINGS = {
    enforceConfiguration: "enforce.lastcall.dev",
    enforceCopies: "drain.lastcall.dev",
    proofNamespace: "proofs",
    proofLabels: { team: "web" },
    image: "registry.example/lastcall-manager:1",
  };
  const CONFIGURATIONS_PATH = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
  type StoredConfiguration = {
    readonly metadata: { readonly resourceVersion: string };
    readonly webhooks?: readonly RawObject[];
  };
  const OBJECTS: Readonly<Record<string, StoredConfiguration>> = {
    [`${CONFIGURATIONS_PATH}/drain.lastcall.dev`]: { metadata: { resourceVersion: "4" }, webhooks: INSTALLED_WEBHOOKS },
    [`${CONFIGURATIONS_PATH}/enforce.lastcall.dev`]: { metadata: { resourceVersion: "7" } },
  };

  /** @param isInjecting whether dry-run Pods that opt in get the annotation of an injected Pod */
  const createApiServer = (isInjecting: boolean, objects = OBJECTS) => {
    const requests: ApiRequest[] = [];
    const send = async (request: ApiRequest): Promise<ApiResponse> => {
      const { method, path, body = "" } = request;
      if (method !== "GET") requests.push(request);
      if (method === "POST") {
        const isInjected = isInjecting && body.includes('"lastcall.dev/inject":"enabled"');
        const annotations = isInjected ? { "lastcall.dev/status": "{}" } : {};
        return { status: 201, text: JSON.stringify({ metadata: { annotations } }) };
      }
      const object = objects[path];
      return { status: object === undefined ? 404 : 200, text: JSON.stringify(object ?? {}) };
    };
    return { ports: enforcerPorts(send, SETTINGS), requests };
  };

  test("creates dry-run Pods with the configured namespace, labels and manager image", async () => {
    const { ports, requests } = createApiServer(true);
    await enforce(ports);
    const pods = requests.filter(({ method }) => method === "POST");
    expect(pods.map(({ path }) => path)).toEqual(Array(2).fill("/api/v1/namespaces/proofs/pods?dryRun=All"));
    for (const { body } of pods) {
      expect(JSON.parse(body ?? "")).toMatchObject({
        metadata: { labels: { team: "web" } },
        spec: { containers: [{ image: "registry.example/lastcall-manager:1" }] },
      });
    }
  });

  test("writes the complete list of webhooks at the resourceVersion that was read", async () => {
    const { ports, requests } = createApiServer(true);
    expect(await enforce(ports)).toEqual({ isEnforcing: true, why: "", reason: "none" });
    const { path, body } = requests.at(-1) ?? { path: "" };
    expect(path).toBe(`${CONFIGURATIONS_PATH}/enforce.lastcall.dev`);
    expect(JSON.parse(body ?? "")).toEqual([
      { op: "replace", path: "/metadata/resourceVersion", value: "7" },
      { op: "add", path: "/webhooks", value: failClosedCopies(INSTALLED_WEBHOOKS) },
    ]);
  });

  test("does not write if the dry-run Pod is not injected, and reports the reason after one attempt", async () => {
    const { ports, requests } = createApiServer(false);
    const { isEnforcing, why } = await enforce(ports);
    expect([isEnforcing, requests.map(({ method }) => method)]).toEqual([false, ["POST"]]);
    expect(why).toContain("was not injected");
  });

  /** Returns the metrics after one check with an API server that refuses the dry-run Pod. */
  async function readBlockedMetricsAfter(refusal: ApiResponse): Promise<readonly string[]> {
    const { ports } = createApiServer(true);
    const refusingPorts = enforcerPorts(async () => refusal, SETTINGS);
    const enforcement = await enforce({ ...ports, proveInjection: refusingPorts.proveInjection });
    expect([enforcement.isEnforcing, enforcement.why.includes("in namespace proofs (")]).toEqual([false, true]);
    return readBlockedMetrics(enforcement);
  }

  async function readBlockedMetrics(enforcement: Enforcement): Promise<readonly string[]> {
    const registry = new Registry();
    addEnforcementGauges(registry, () => enforcement);
    return (await registry.metrics()).split("\n").filter((line) => line.startsWith("lastcall_enforcement_blocked"));
  }

  const createForbiddenResponse = (why: string): ApiResponse => ({
    status: 403,
    text: JSON.stringify({ kind: "Status", code: 403, reason: "Forbidden", message: `pods "x" is forbidden: ${why}` }),
  });

  test.for([
    "exceeded quota: small, requested: pods=1, used: pods=5, limited: pods=5",
    "failed quota: small: must specify limits.ephemeral-storage for: probe",
    "insufficient quota to match these scopes: [{PriorityClass In [high]}]",
  ])("sets the metric's reason to `quota` if a ResourceQuota refuses the dry-run Pod: %s", async (why) => {
    expect(await readBlockedMetricsAfter(createForbiddenResponse(why))).toEqual([
      'lastcall_enforcement_blocked{reason="quota"} 1',
      'lastcall_enforcement_blocked{reason="other"} 0',
    ]);
  });

  test.for([
    {
      title: "PodSecurity refuses the dry-run Pod",
      refusal: createForbiddenResponse('violates PodSecurity "restricted:latest"'),
    },
    {
      title: "the API server responds with status 500",
      refusal: { status: 500, text: JSON.stringify({ message: "exceeded quota: of something else" }) },
    },
  ])("sets the metric's reason to `other` if $title", async ({ refusal }) => {
    expect(await readBlockedMetricsAfter(refusal)).toEqual([
      'lastcall_enforcement_blocked{reason="quota"} 0',
      'lastcall_enforcement_blocked{reason="other"} 1',
    ]);
  });

  test("does not set a reason in the metric while it is active", async () => {
    const { ports } = createApiServer(true);
    expect(await readBlockedMetrics(await enforce(ports))).toEqual([
      'lastcall_enforcement_blocked{reason="quota"} 0',
      'lastcall_enforcement_blocked{reason="other"} 0',
    ]);
  });

  test("does not create the configuration for the copies if that configuration is missing", async () => {
    const { [`${CONFIGURATIONS_PATH}/enforce.lastcall.dev`]: _gone, ...others } = OBJECTS;
    const { ports, requests } = createApiServer(true, others);
    expect((await enforce(ports)).isEnforcing).toBe(false);
    expect(requests).toEqual([]);
  });
});

describe("a copied webhook", () => {
  const [copy = {}] = failClosedCopies(INSTALLED_WEBHOOKS);

  test("has failurePolicy Fail and otherwise equals the original, with all unknown fields", () => {
    const { failurePolicy, matchConditions, ...others } = copy;
    const { failurePolicy: _ignore, matchConditions: conditions, ...same } = INSTALLED_WEBHOOKS[0] as RawObject;
    expect([failurePolicy, others]).toEqual(["Fail", same]);
    expect(objectsAt({ matchConditions }, "matchConditions").slice(0, -1)).toEqual(conditions);
  });

  test("matches only Pods without the annotation lastcall.dev/status", () => {
    expect(objectsAt(copy, "matchConditions").at(-1)).toEqual({
      name: "not-injected-yet",
      expression: "!has(object.metadata.annotations) || !('lastcall.dev/status' in object.metadata.annotations)",
    });
  });
});
