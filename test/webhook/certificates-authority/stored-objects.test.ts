/** Tests the API server's responses to writes: conflicts, and errors with their messages. */
import { describe, expect, test } from "vitest";
import type { ApiRequest, ApiResponse } from "../../../src/api-server/api-request.ts";
import { createSecretStore } from "../../../src/api-server/secret-store.ts";
import { webhookConfigurations } from "../../../src/webhook/certificates/webhook-configurations.ts";

const STORED_SECRET = { resourceVersion: "7", data: { "ca.crt": "old", "next.crt": "x", "relay.json": "{}" } };
const immutableCause = { reason: "FieldValueForbidden", message: "field is immutable", field: "data" };

function createApiServer(
  status: number,
  body: unknown = {},
): { send: (request: ApiRequest) => Promise<ApiResponse>; requests: ApiRequest[] } {
  const requests: ApiRequest[] = [];
  const send = async (request: ApiRequest): Promise<ApiResponse> => {
    requests.push(request);
    return { status, text: typeof body === "string" ? body : JSON.stringify(body) };
  };
  return { send, requests };
}

test("an update of the Secret changes single entries, and only at the resourceVersion that was read", async () => {
  const { send, requests } = createApiServer(200);
  const store = createSecretStore(send, "lastcall", "ca");
  expect(await store.update(STORED_SECRET, { "ca.crt": "new", "next.crt": undefined, "next.key": undefined })).toBe(
    "done",
  );
  expect(requests[0]).toMatchObject({ method: "PATCH", path: "/api/v1/namespaces/lastcall/secrets/ca" });
  expect(JSON.parse(requests[0]?.body ?? "")).toEqual([
    { op: "replace", path: "/metadata/resourceVersion", value: "7" },
    { op: "add", path: "/data/ca.crt", value: Buffer.from("new").toString("base64") },
    { op: "remove", path: "/data/next.crt" },
  ]);
});

test("an update of a Secret without data adds the field `data` before the entry", async () => {
  const { send, requests } = createApiServer(200);
  await createSecretStore(send, "lastcall", "ca").update({ resourceVersion: "7", data: {} }, { "ca.crt": "new" });
  expect(JSON.parse(requests[0]?.body ?? "")[1]).toEqual({ op: "add", path: "/data", value: {} });
});

test("a write of the webhook configuration changes only the caBundle of every webhook", async () => {
  const { send, requests } = createApiServer(200);
  await webhookConfigurations(send, "w").writeBundle({ resourceVersion: "9", bundles: ["", "old"] }, "new");
  expect(JSON.parse(requests[0]?.body ?? "").map((operation: { path: string }) => operation.path)).toEqual([
    "/metadata/resourceVersion",
    "/webhooks/0/clientConfig/caBundle",
    "/webhooks/1/clientConfig/caBundle",
  ]);
});

describe("a webhook configuration with a copy whose failurePolicy is Fail", () => {
  const configurationWith = (resourceVersion: string, ...bundles: readonly string[]) => ({
    metadata: { resourceVersion },
    webhooks: bundles.map((text) => ({ clientConfig: { caBundle: Buffer.from(text).toString("base64") } })),
  });
  /** @param copies the caBundles in the copy of the configuration; `undefined` if no copy exists */
  const createApiServerWithCopy = (copies: readonly string[] | undefined) => {
    const requests: ApiRequest[] = [];
    const send = async (request: ApiRequest): Promise<ApiResponse> => {
      requests.push(request);
      const isCopy = request.path.endsWith("/c");
      if (isCopy && copies === undefined) return { status: 404, text: "{}" };
      return {
        status: 200,
        text: JSON.stringify(isCopy ? configurationWith("8", ...(copies ?? [])) : configurationWith("7", "a", "b")),
      };
    };
    return { configurations: webhookConfigurations(send, "w", "c"), requests };
  };

  test("is read and written together with the copy, each at its own resourceVersion", async () => {
    const { configurations, requests } = createApiServerWithCopy(["a", "old"]);
    const configuration = await configurations.read();
    expect(configuration?.bundles).toEqual(["a", "b", "a", "old"]);
    requests.length = 0;
    expect(configuration && (await configurations.writeBundle(configuration, "new"))).toBe("done");
    const patches = requests.map(({ path, body }) => [path.slice(-2), ...JSON.parse(body ?? "").map(patchedValueOf)]);
    const value = Buffer.from("new").toString("base64");
    expect(patches).toEqual([
      ["/w", "7", value, value],
      ["/c", "8", value, value],
    ]);
  });

  test.for([
    { title: "missing", copies: undefined },
    { title: "empty", copies: [] },
  ])("is written without the copy if the copy is $title", async ({ copies }) => {
    const { configurations, requests } = createApiServerWithCopy(copies);
    const configuration = await configurations.read();
    expect(configuration).toEqual({ resourceVersion: "7", bundles: ["a", "b"] });
    requests.length = 0;
    if (configuration !== undefined) await configurations.writeBundle(configuration, "new");
    expect(requests.map(({ path }) => path.slice(-2))).toEqual(["/w"]);
  });

  const patchedValueOf = ({ value }: { readonly value: unknown }): unknown => value;
});

test.for([
  { status: 409, body: {}, title: "another update" },
  { status: 404, body: {}, title: "the deletion of the Secret" },
  { status: 422, body: { details: {} }, title: "a change that makes the patch inapplicable" },
])("an update of the Secret returns a conflict after $title", async ({ status, body }) => {
  expect(await createSecretStore(createApiServer(status, body).send, "n", "s").update(STORED_SECRET, {})).toBe(
    "conflict",
  );
});

test("a read of a missing Secret is not an error, and a failed create returns a conflict", async () => {
  expect(await createSecretStore(createApiServer(404).send, "n", "s").read()).toBeUndefined();
  expect(await webhookConfigurations(createApiServer(404).send, "w").read()).toBeUndefined();
  expect(await createSecretStore(createApiServer(409).send, "n", "s").create({})).toBe("conflict");
});

test("an error for a refused request has the object's name and the API server's message", async () => {
  const forbiddenStore = createSecretStore(createApiServer(403, { message: "user may not" }).send, "lastcall", "ca");
  await expect(forbiddenStore.read()).rejects.toThrow(
    "cannot read Secret lastcall/ca: the API server responded with 403 user may not",
  );
  await expect(forbiddenStore.create({})).rejects.toThrow(
    "cannot create Secret lastcall/ca: the API server responded with 403",
  );
  const rejectingServer = createApiServer(422, {
    message: "field is immutable",
    details: { causes: [immutableCause] },
  });
  await expect(createSecretStore(rejectingServer.send, "n", "s").update(STORED_SECRET, {})).rejects.toThrow(
    "field is immutable",
  );
  await expect(webhookConfigurations(createApiServer(200, "<html>").send, "w").read()).rejects.toThrow("<html>");
});

test("an error for an unreachable API server contains the action that failed", async () => {
  const send = () => Promise.reject(new Error("connect ECONNREFUSED"));
  await expect(webhookConfigurations(send, "w").read()).rejects.toThrow(
    "cannot read MutatingWebhookConfiguration w: connect ECONNREFUSED",
  );
});

test("a caBundle that is not a base64 string is read as empty", async () => {
  const invalid = { metadata: { resourceVersion: "1" }, webhooks: [{ clientConfig: { caBundle: 7 } }, {}] };
  expect(await webhookConfigurations(createApiServer(200, invalid).send, "w").read()).toEqual({
    resourceVersion: "1",
    bundles: ["", ""],
  });
});
