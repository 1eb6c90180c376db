/**
 * Creates Pods at a constant rate over a few keep-alive connections, as server-side dry runs: complete admissions without
 * stored objects. Slow responses do not lower the rate of the requests.
 */
import { Agent, type RequestOptions, request } from "node:https";
import { setTimeout as pause } from "node:timers/promises";
import { KubeConfig, type V1Pod } from "@kubernetes/client-node";
import { isInjected } from "./create-pods.ts";
import type { Suite } from "./suite.ts";

export type CreationCounts = {
  readonly requested: number;
  /** Creations that were refused, or not answered in time. */
  readonly failed: number;
  /** Creations that were admitted without injection. */
  readonly missed: number;
  /** The first failures, each with its time. */
  readonly failures: readonly string[];
};

export type SteadyCreations = {
  readonly countSoFar: () => number;
  /** Stops, and resolves when all requests are answered. */
  readonly stop: () => Promise<CreationCounts>;
};

export type CreationPlan = { readonly perSecond: number; readonly pod: V1Pod; readonly namespace: string };

const CONNECTIONS = 5;
const RESPONSE_TIMEOUT_MS = 35_000;
const MAX_FAILURES = 20;

export async function createSteadily(suite: Suite, plan: CreationPlan): Promise<SteadyCreations> {
  const createOnce = await createRequester(suite, plan);
  const failures: string[] = [];
  let requested = 0;
  const counts = { failed: 0, missed: 0 };
  let isStopped = false;
  const createAndCount = async (): Promise<void> => {
    const startTime = new Date().toISOString();
    const { outcome, reason } = await createOnce();
    if (outcome === "injected") return;
    counts[outcome] += 1;
    if (failures.length < MAX_FAILURES) failures.push(`${startTime} ${outcome}: ${reason}`);
  };
  const schedule = (async () => {
    const pendingCreations = new Set<Promise<void>>();
    const startMs = performance.now();
    while (!isStopped) {
      const dueMs = startMs + (requested * 1_000) / plan.perSecond;
      await pause(Math.max(0, dueMs - performance.now()));
      requested += 1;
      const creation = createAndCount().finally(() => pendingCreations.delete(creation));
      pendingCreations.add(creation);
    }
    await Promise.all(pendingCreations);
  })();
  return {
    countSoFar: () => requested,
    stop: async () => {
      isStopped = true;
      await schedule;
      return { requested, ...counts, failures };
    },
  };
}

type CreationOutcome = { readonly outcome: "injected" | "missed" | "failed"; readonly reason: string };

/** Returns a function that sends one dry run of the Pod. */
async function createRequester(
  suite: Suite,
  { namespace, pod }: CreationPlan,
): Promise<() => Promise<CreationOutcome>> {
  const config = new KubeConfig();
  config.loadFromFile(suite.kubeconfig);
  if (suite.context !== undefined) config.setCurrentContext(suite.context);
  const identity: RequestOptions = {};
  await config.applyToHTTPSOptions(identity);
  const { ca, cert, key, rejectUnauthorized } = identity;
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS, ca, cert, key, rejectUnauthorized });
  const url = `${config.getCurrentCluster()?.server}/api/v1/namespaces/${namespace}/pods?dryRun=All`;
  const body = JSON.stringify(pod);
  const headers = { ...identity.headers, "content-type": "application/json" };
  return async () => {
    try {
      const response = await post(
        url,
        { ...identity, method: "POST", agent, headers, timeout: RESPONSE_TIMEOUT_MS },
        body,
      );
      if (response.status !== 201)
        return { outcome: "failed", reason: `${response.status} ${response.text.slice(0, 400)}` };
      return {
        outcome: isInjected(JSON.parse(response.text)) ? "injected" : "missed",
        reason: `warnings: ${response.warning ?? "none"}`,
      };
    } catch (error) {
      return { outcome: "failed", reason: error instanceof Error ? error.message : String(error) };
    }
  };
}

type HttpResponse = { readonly status: number; readonly text: string; readonly warning: string | undefined };

function post(url: string, options: RequestOptions, body: string): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    const clientRequest = request(url, options, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      const warning = response.headers.warning;
      response.once("end", () => resolve({ status: response.statusCode ?? 0, text, warning }));
      response.once("error", reject);
    });
    clientRequest.once("timeout", () =>
      clientRequest.destroy(new Error(`no response within ${RESPONSE_TIMEOUT_MS} ms`)),
    );
    clientRequest.once("error", reject);
    clientRequest.end(body);
  });
}
