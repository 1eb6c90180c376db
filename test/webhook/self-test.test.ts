import { describe, expect, test } from "vitest";
import type { ApiRequest, ApiResponse } from "../../src/api-server/api-request.ts";
import { problemText } from "../../src/settings/read-settings.ts";
import { readOptions } from "../../src/webhook/self-test/main.ts";
import { probePod } from "../../src/webhook/self-test/probe-pods.ts";
import { runSelfTest } from "../../src/webhook/self-test/self-test.ts";

type Respond = (optIn: string, requestCount: number) => ApiResponse;

/** Runs the self-test with the responses of `respond`; only its sleeps advance the time. */
async function runInVirtualTime(respond: Respond, waitMs = 3_000) {
  const requests: ApiRequest[] = [];
  const reportedSentences: string[] = [];
  let nowMs = 0;
  const hasPassed = await runSelfTest(
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
      report: (sentence) => void reportedSentences.push(sentence),
    },
  );
  return { hasPassed, reportedSentences, requests, nowMs };
}

const createPodResponse = (isInjected: boolean): ApiResponse => ({
  status: 201,
  text: JSON.stringify({ metadata: isInjected ? { annotations: { "lastcall.dev/status": "{}" } } : {} }),
});

const createRefusal = (message: string): ApiResponse => ({ status: 403, text: JSON.stringify({ message }) });

describe("the self-test of a Helm release", () => {
  test("passes if only the Pod that opts in is injected", async () => {
    expect(await runInVirtualTime((optIn) => createPodResponse(optIn === "enabled"))).toMatchObject({
      hasPassed: true,
      reportedSentences: [],
      nowMs: 0,
    });
  });

  test("sends only dry runs", async () => {
    const { requests } = await runInVirtualTime((optIn) => createPodResponse(optIn === "enabled"));
    expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "POST /api/v1/namespaces/shop/pods?dryRun=All",
      "POST /api/v1/namespaces/shop/pods?dryRun=All",
    ]);
  });

  test("fails and reports the missing injection once", async () => {
    const { hasPassed, reportedSentences, nowMs } = await runInVirtualTime(() => createPodResponse(false));
    expect(hasPassed).toBe(false);
    expect(reportedSentences).toEqual([expect.stringContaining("was not injected")]);
    expect(nowMs).toBe(3_000);
  });

  test("fails when a Pod that opted out is injected", async () => {
    const { hasPassed, reportedSentences } = await runInVirtualTime(() => createPodResponse(true));
    expect(hasPassed).toBe(false);
    expect(reportedSentences).toEqual([expect.stringContaining("lastcall.dev/inject=disabled was injected")]);
  });

  test("waits for RBAC rules that take effect late", async () => {
    const { hasPassed, reportedSentences } = await runInVirtualTime((optIn, requestCount) =>
      requestCount === 1 ? createRefusal("not yet") : createPodResponse(optIn === "enabled"),
    );
    expect(hasPassed).toBe(true);
    expect(reportedSentences).toEqual(['The API server refuses a Pod in namespace shop (403): "not yet"']);
  });

  test("reports a refusal by the API server once and in full, although each attempt has another generated Pod name", async () => {
    const why = "exceeded quota: small, requested: pods=1, used: pods=5, limited: pods=5";
    const { hasPassed, reportedSentences } = await runInVirtualTime((_optIn, requestCount) =>
      createRefusal(`pods "lastcall-self-test-${requestCount}" is forbidden: ${why}`),
    );
    expect(hasPassed).toBe(false);
    expect(reportedSentences).toEqual([`The API server refuses a Pod in namespace shop (403): "${why}"`]);
  });

  test("shortens a very long refusal by the API server", async () => {
    const { reportedSentences } = await runInVirtualTime(() => createRefusal("x".repeat(1_000)));
    expect(reportedSentences).toEqual([`The API server refuses a Pod in namespace shop (403): "${"x".repeat(300)}…"`]);
  });

  test("fails with a message when the API server is unreachable", async () => {
    const { hasPassed, reportedSentences } = await runInVirtualTime(() => {
      throw new Error("connect ECONNREFUSED");
    });
    expect(hasPassed).toBe(false);
    expect(reportedSentences).toEqual(["The request to the API server failed: connect ECONNREFUSED"]);
  });

  test("fails if the API server's response is not a Pod", async () => {
    expect((await runInVirtualTime(() => ({ status: 201, text: "null" }))).hasPassed).toBe(false);
    expect((await runInVirtualTime(() => ({ status: 200, text: "<html>" }))).hasPassed).toBe(false);
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
  async function runWithStartedPod(statuses: readonly object[], refusals: readonly ApiResponse[] = []) {
    const requests: ApiRequest[] = [];
    const reportedSentences: string[] = [];
    let nowMs = 0;
    let readCount = 0;
    const remainingRefusals = [...refusals];
    const responseTo = ({ method, path, body }: ApiRequest): ApiResponse => {
      if (path.endsWith("dryRun=All")) return createPodResponse(String(body).includes('"enabled"'));
      if (method === "DELETE") return { status: 200, text: "{}" };
      if (method === "POST") return remainingRefusals.shift() ?? createPodResponse(true);
      const status = statuses[Math.min(readCount, statuses.length - 1)];
      readCount += 1;
      return { status: 200, text: JSON.stringify({ status }) };
    };
    const hasPassed = await runSelfTest(
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
        report: (sentence) => void reportedSentences.push(sentence),
      },
    );
    return {
      hasPassed,
      reportedSentences,
      requestLines: requests.map(({ method, path }) => `${method} ${path}`),
      requests,
      nowMs,
    };
  }

  test("has the manager's image in both containers, opts in, and is deleted after both containers have run", async () => {
    const { hasPassed, reportedSentences, requestLines, requests } = await runWithStartedPod([
      { phase: "Pending" },
      statusOf(RUNNING_STATE, TERMINATED_STATE),
    ]);
    expect(hasPassed).toBe(true);
    expect(reportedSentences).toEqual([
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
    const { hasPassed, reportedSentences, requestLines, nowMs } = await runWithStartedPod([status]);
    expect(hasPassed).toBe(false);
    expect(reportedSentences).toEqual([expect.stringContaining(why)]);
    expect(requestLines.at(-1)).toBe(`DELETE ${POD_PATH}?gracePeriodSeconds=0`);
    expect(nowMs).toBe(5_000);
  });

  test("replaces the Pod of an earlier self-test after that Pod is deleted", async () => {
    const conflict = { status: 409, text: JSON.stringify({ message: "object is being deleted" }) };
    const { hasPassed, reportedSentences } = await runWithStartedPod(
      [statusOf(TERMINATED_STATE, TERMINATED_STATE)],
      [conflict, conflict],
    );
    expect(hasPassed).toBe(true);
    expect(reportedSentences).toEqual([
      'The API server refuses Pod lastcall-self-test in namespace shop (409): "object is being deleted"',
    ]);
  });

  test("is not created if the dry-run Pods are not injected", async () => {
    const { hasPassed, requests } = await runInVirtualTime(() => createPodResponse(false));
    expect(hasPassed).toBe(false);
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
