/** Tests the API client against a real API server: page sizes that change within a list, and rejected requests. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ApiClient, createApiClient } from "../../src/api-server/api-client.ts";
import type { SendRequest } from "../../src/api-server/api-request.ts";
import { listAll } from "../../src/api-server/list-pages.ts";
import { loadKubeConfig } from "../../src/api-server/load-kube-config.ts";
import { enforcerPorts } from "../../src/webhook/enforcement/enforcement-runner.ts";
import { eventually } from "../time/eventually.ts";
import { type ApiServer, startApiServer } from "./api-server.ts";
import { at, listOf } from "./rendering.ts";

const PAGE_SIZE = 20;

/** One object with this text is below etcd's limit of 1.5 MiB, and a page of 20 such objects exceeds PAGE_LIMIT_BYTES. */
const LARGE_TEXT = "x".repeat(1_000_000);

/** The created objects, sorted by name: a page of small objects, a page of large objects, and another page of small objects. */
const OBJECTS = [
  { prefix: "a-small", text: "x" },
  { prefix: "b-large", text: LARGE_TEXT },
  { prefix: "c-small", text: "x" },
].flatMap(({ prefix, text }) =>
  Array.from({ length: PAGE_SIZE }, (_, index) => ({ name: `${prefix}-${String(index).padStart(2, "0")}`, text })),
);

let server: ApiServer;
let client: ApiClient;

// The first run may build the API server.
beforeAll(async () => {
  server = await startApiServer();
  client = createApiClient(await loadKubeConfig({ kubeconfigFile: server.kubeconfig }));
}, 1_800_000);

afterAll(async () => {
  client?.close();
  await server?.stop();
});

async function create(path: string, body: object): Promise<void> {
  const { status, body: responseBody } = await server.send("POST", path, body);
  if (status !== 201) throw new Error(`POST ${path}: ${status} ${JSON.stringify(responseBody)}`);
}

const createNamespace = (name: string): Promise<void> => create("/api/v1/namespaces", { metadata: { name } });

type PageRequest = {
  readonly limit: string | null;
  readonly continueToken: string | null;
  /** Names of the objects on the page, or the name of the error. */
  readonly result: readonly string[] | string;
};

/** Returns a client that records every request for a page. */
function createPageRecorder(pageRequests: PageRequest[], afterEach: () => Promise<void>): SendRequest {
  return async (request) => {
    const query = new URL(request.path, "https://kubernetes").searchParams;
    const record = async (result: PageRequest["result"]): Promise<void> => {
      pageRequests.push({ limit: query.get("limit"), continueToken: query.get("continue"), result });
      await afterEach();
    };
    try {
      const response = await client.request(request);
      await record(listOf(JSON.parse(response.text), "items").map((item) => String(at(item, "metadata", "name"))));
      return response;
    } catch (error) {
      await record(error instanceof Error ? error.name : String(error));
      throw error;
    }
  };
}

// The API server reads lists of Events from etcd, and most other lists from its watch cache.
describe.for([
  {
    resource: "events",
    objectOf: (namespace: string, name: string, text: string) => ({
      metadata: { name },
      involvedObject: { kind: "Pod", namespace, name: "web" },
      reason: "Pulled",
      message: text,
    }),
    fieldSelector: "reason=Pulled",
  },
  {
    resource: "configmaps",
    objectOf: (_namespace: string, name: string, text: string) => ({ metadata: { name }, data: { text } }),
    fieldSelector: undefined,
  },
])("a list of $resource with large objects in the middle", ({ resource, objectOf, fieldSelector }) => {
  const namespace = `large-${resource}`;
  const path = `/api/v1/namespaces/${namespace}/${resource}`;

  beforeAll(async () => {
    await createNamespace(namespace);
    for (const { name, text } of OBJECTS) await create(path, objectOf(namespace, name, text));
  });

  test("is continued with half the limit after a page that is too large, and has each object once", async () => {
    const pageRequests: PageRequest[] = [];
    let addedCount = 0;
    const requestPage = createPageRecorder(pageRequests, () => {
      addedCount += 1;
      return create(path, objectOf(namespace, `c-small-later-${addedCount}`, "x"));
    });
    const { objects } = await listAll(requestPage, {
      path,
      fieldSelector,
      pageSize: PAGE_SIZE,
      reduce: () => true,
      signal: new AbortController().signal,
    });
    const names = OBJECTS.map(({ name }) => name);
    const namesBetween = (from: number, to: number): readonly string[] => names.slice(from, to);
    expect(pageRequests.map(({ limit, result }) => [limit, result])).toEqual([
      ["20", namesBetween(0, 20)],
      ["20", "ResponseTooLarge"],
      ["10", namesBetween(20, 30)],
      ["10", namesBetween(30, 40)],
      ["10", namesBetween(40, 50)],
      ["20", namesBetween(50, 60)],
    ]);
    const [firstToken, continueToken, halvedToken, ...otherTokens] = pageRequests.map(
      ({ continueToken }) => continueToken,
    );
    expect([firstToken, halvedToken]).toEqual([null, continueToken]);
    expect(new Set([continueToken, ...otherTokens]).size).toBe(4);
    expect([...objects.keys()]).toEqual(names.map((name) => `${namespace}/${name}`));
  });
});

describe("the dry run that proves injection in a namespace with a ResourceQuota", () => {
  const namespace = "full";
  const quotas = `/api/v1/namespaces/${namespace}/resourcequotas`;
  const proveInjection = () => {
    const settings = {
      enforceCopies: "drain.lastcall.dev",
      enforceConfiguration: "enforce.lastcall.dev",
      proofNamespace: namespace,
      proofLabels: {},
      image: "lastcall/manager:1",
    };
    return enforcerPorts(client.request, settings).proveInjection();
  };

  beforeAll(() => createNamespace(namespace));

  test("is rejected for a full quota, with the quota's name in the API server's message", async () => {
    expect(await proveInjection()).toMatchObject({ reason: "other" });
    const hard = { pods: "0" };
    await create(quotas, { metadata: { name: "none" }, spec: { hard } });
    // No controller runs, so the test writes the status; admission reads only the status.
    const { status } = await server.send("PATCH", `${quotas}/none/status`, { status: { hard, used: { pods: "0" } } });
    expect(status).toBe(200);
    await eventually(async () =>
      expect(await proveInjection()).toMatchObject({
        reason: "quota",
        why: expect.stringContaining("exceeded quota: none, requested: pods=1, used: pods=0, limited: pods=0"),
      }),
    );
  });
});
