import { describe, expect, test } from "vitest";
import type { ApiRequest, ApiResponse } from "../../src/api-server/api-request.ts";
import { problemText } from "../../src/settings/read-settings.ts";
import { readOptions } from "../../src/webhook/self-test/main.ts";
import { probePod } from "../../src/webhook/self-test/probe-pods.ts";
import { runSelfTest } from "../../src/webhook/self-test/self-test.ts";

type Respond = (optIn: string, requestCount: number) => ApiResponse;

/** Runs the self-test with the responses of `respond`; only its sleeps advance the time. */
async function run(respond: Respond, waitMs = 3_000) {
  const requests: ApiRequest[] = [];
  const reported: string[] = [];
  let nowMs = 0;
  const passes = await runSelfTest(
    { namespace: "shop", waitMs, image: "probe:1", labels: { team: "web" }, startsPod: false },
    {
      request: async (request) => {
        requests.push(request);
        const pod = JSON.parse(request.body ?? "") as { metadata: { labels: Record<string, string> } };
        return respond(pod.metadata.labels["lastcall.dev/inject"] ?? "", requests.length);
      },
      sleep: async (ms) => {
        nowMs += ms;
      },
      nowMs: () => nowMs,
      report: (sentence) => void reported.push(sentence),
    },
  );
  return { passes, reported, requests, nowMs };
}

const pod = (injected: boolean): ApiResponse => ({
  status: 201,
  text: JSON.stringify({ metadata: injected ? { annotations: { "lastcall.dev/status": "{}" } } : {} }),
});

const refusal = (message: string): ApiResponse => ({ status: 403, text: JSON.stringify({ message }) });

describe("the self-test of a Helm release", () => {
  test("passes if only the Pod that opts in is injected", async () => {
    expect(await run((optIn) => pod(optIn === "enabled"))).toMatchObject({ passes: true, reported: [], nowMs: 0 });
  });

  test("sends only dry runs", async () => {
    const { requests } = await run((optIn) => pod(optIn === "enabled"));
    expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "POST /api/v1/namespaces/shop/pods?dryRun=All",
      "POST /api/v1/namespaces/shop/pods?dryRun=All",
    ]);
  });

  test("fails and reports the missing injection once", async () => {
    const { passes, reported, nowMs } = await run(() => pod(false));
    expect(passes).toBe(false);
    expect(reported).toEqual([expect.stringContaining("was not injected")]);
    expect(nowMs).toBe(3_000);
  });

  test("fails when a Pod that opted out is injected", async () => {
    const { passes, reported } = await run(() => pod(true));
    expect(passes).toBe(false);
    expect(reported).toEqual([expect.stringContaining("lastcall.dev/inject=disabled was injected")]);
  });

  test("waits for RBAC rules that take effect late", async () => {
    const { passes, reported } = await run((optIn, requestCount) =>
      requestCount === 1 ? refusal("not yet") : pod(optIn === "enabled"),
    );
    expect(passes).toBe(true);
    expect(reported).toEqual(['The API server refuses a Pod in namespace shop (403): "not yet"']);
  });

  test("reports a refusal by the API server once and in full, although each attempt has another generated Pod name", async () => {
    const why = "exceeded quota: small, requested: pods=1, used: pods=5, limited: pods=5";
    const { passes, reported } = await run((_optIn, requestCount) =>
      refusal(`pods "lastcall-self-test-${requestCount}" is forbidden: ${why}`),
    );
    expect(passes).toBe(false);
    expect(reported).toEqual([`The API server refuses a Pod in namespace shop (403): "${why}"`]);
  });

  test("shortens a very long refusal by the API server", async () => {
    const { reported } = await run(() => refusal("x".repeat(1_000)));
    expect(reported).toEqual([`The API server refuses a Pod in namespace shop (403): "${"x".repeat(300)}…"`]);
  });

  test("fails with a message when the API server is unreachable", async () => {
    const { passes, reported } = await run(() => {
      throw new Error("connect ECONNREFUSED");
    });
    expect(passes).toBe(false);
    expect(reported).toEqual(["The API server is unreachable: connect ECONNREFUSED"]);
  });

  test("fails if the API server's response is not a Pod", async () => {
    expect((await run(() => ({ status: 201, text: "null" }))).passes).toBe(false);
    expect((await run(() => ({ status: 200, text: "<html>" }))).passes).toBe(false);
  });
});

describe("the Pod that the self-test starts", () => {
  const POD_PATH = "/api/v1/namespaces/shop/pods/lastcall-self-test";
  const statusOf = (manager: object, probe: object) => ({
    initContainerStatuses: [{ name: "lastcall", state: manager }],
    containerStatuses: [{ name: "probe", state: probe }],
  });
  const RUNNING_STATE = { running: {} };
  const TERMINATED_STATE = { terminated: { exitCode: 0 } };

  /** Each read returns the next of these statuses of the Pod; later reads return the last status. */
  async function start(statuses: readonly object[], refusals: readonly ApiResponse[] = []) {
    const requests: ApiRequest[] = [];
    const reported: string[] = [];
    let nowMs = 0;
    let reads = 0;
    const refused = [...refusals];
    const responseTo = ({ method, path, body }: ApiRequest): ApiResponse => {
      if (path.endsWith("dryRun=All")) return pod(String(body).includes('"enabled"'));
      if (method === "DELETE") return { status: 200, text: "{}" };
      if (method === "POST") return refused.shift() ?? pod(true);
      const status = statuses[Math.min(reads, statuses.length - 1)];
      reads += 1;
      return { status: 200, text: JSON.stringify({ status }) };
    };
    const passes = await runSelfTest(
      { namespace: "shop", waitMs: 5_000, image: "manager:1", labels: { team: "web" }, startsPod: true },
      {
        request: async (request) => {
          requests.push(request);
          return responseTo(request);
        },
        sleep: async (ms) => {
          nowMs += ms;
        },
        nowMs: () => nowMs,
        report: (sentence) => void reported.push(sentence),
      },
    );
    return { passes, reported, requestLines: requests.map(({ method, path }) => `${method} ${path}`), requests, nowMs };
  }

  test("has the manager's image in both containers, opts in, and is deleted after both containers have run", async () => {
    const { passes, reported, requestLines, requests } = await start([
      { phase: "Pending" },
      statusOf(RUNNING_STATE, TERMINATED_STATE),
    ]);
    expect(passes).toBe(true);
    expect(reported).toEqual([
      "Pod lastcall-self-test in namespace shop does not start its container lastcall: it has no status yet",
    ]);
    expect(requestLines.slice(2)).toEqual([
      `DELETE ${POD_PATH}?gracePeriodSeconds=0`,
      "POST /api/v1/namespaces/shop/pods",
      `GET ${POD_PATH}`,
      `GET ${POD_PATH}`,
      `DELETE ${POD_PATH}?gracePeriodSeconds=0`,
    ]);
    expect(JSON.parse(requests[3]?.body ?? "")).toMatchObject({
      metadata: { name: "lastcall-self-test", labels: { team: "web", "lastcall.dev/inject": "enabled" } },
      spec: { restartPolicy: "Never", containers: [{ image: "manager:1" }] },
    });
  });

  test.for<[string, object, string]>([
    [
      "the manager cannot be pulled",
      statusOf({ waiting: { reason: "ImagePullBackOff", message: "not found" } }, { waiting: {} }),
      'does not start its container lastcall: ImagePullBackOff: "not found"',
    ],
    [
      "the manager crashes",
      statusOf({ terminated: { exitCode: 139 } }, RUNNING_STATE),
      "its container lastcall: it exited with status 139",
    ],
    [
      "the container `probe` does not run",
      statusOf(RUNNING_STATE, { waiting: { reason: "RunContainerError" } }),
      "its container probe",
    ],
    [
      "the Pod is not scheduled",
      { conditions: [{ type: "PodScheduled", status: "False", message: "0/3 nodes are available" }] },
      'is not scheduled: "0/3 nodes are available"',
    ],
  ])("is deleted, and the self-test fails, if %s", async ([, status, why]) => {
    const { passes, reported, requestLines, nowMs } = await start([status]);
    expect(passes).toBe(false);
    expect(reported).toEqual([expect.stringContaining(why)]);
    expect(requestLines.at(-1)).toBe(`DELETE ${POD_PATH}?gracePeriodSeconds=0`);
    expect(nowMs).toBe(5_000);
  });

  test("replaces the Pod of an earlier self-test after that Pod is deleted", async () => {
    const conflict = { status: 409, text: JSON.stringify({ message: "object is being deleted" }) };
    const { passes, reported } = await start([statusOf(TERMINATED_STATE, TERMINATED_STATE)], [conflict, conflict]);
    expect(passes).toBe(true);
    expect(reported).toEqual([
      'The API server refuses Pod lastcall-self-test in namespace shop (409): "object is being deleted"',
    ]);
  });

  test("is not created if the dry-run Pods are not injected", async () => {
    const { passes, requests } = await run(() => pod(false));
    expect(passes).toBe(false);
    expect(requests.every(({ path }) => path.endsWith("dryRun=All"))).toBe(true);
  });
});

const problemsOf = (...args: string[]) => readOptions(args).problems.map(problemText);

describe("the flags of the self-test", () => {
  test("all have defaults", () => {
    expect(readOptions([])).toEqual({
      settings: {
        namespace: "default",
        waitMs: 30_000,
        image: "lastcall-self-test:never-pulled",
        labels: {},
        startsPod: false,
        kubeconfigFile: "",
      },
      problems: [],
      flagsSet: new Set(),
      help: false,
    });
  });

  test("set the image of the Pod", () => {
    expect(readOptions(["--start", "--image=a/b:1"])).toMatchObject({
      settings: { startsPod: true, image: "a/b:1" },
      problems: [],
    });
    expect(problemsOf("--start")).toEqual(["--start: Requires --image, the manager's image."]);
  });

  test("set labels of the Pod, except the label of the opt-in", async () => {
    const { settings, problems } = readOptions(["--labels=team=web,example.com/tier=,lastcall.dev/inject=other"]);
    expect(problems).toEqual([]);
    expect(settings.labels).toEqual({ team: "web", "example.com/tier": "", "lastcall.dev/inject": "other" });
    expect(probePod(settings, "enabled")).toMatchObject({
      metadata: { labels: { team: "web", "lastcall.dev/inject": "enabled" } },
    });
    for (const text of ["team", "team=a b", "=web", "team=web,"])
      expect(problemsOf(`--labels=${text}`)).toEqual([
        `--labels: Got "${text}", expected labels separated by commas, such as team=web,tier=front.`,
      ]);
  });

  test("are all checked before the first request", () => {
    expect(problemsOf("--namespace=Shop", "--wait=60", "--wiat=1s", "now")).toEqual([
      '"--wiat": Unknown flag; see --help',
      '"now": Unexpected argument; only flags are allowed.',
      '--namespace: Got "Shop", expected a namespace name, lower-case letters, digits and -.',
      '--wait: Got "60", expected a duration with a unit, such as 5s or 500ms, of at most 24h.',
    ]);
  });
});
