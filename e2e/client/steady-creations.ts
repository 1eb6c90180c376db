/**
 * Creates Pods at a constant rate over a few kept-alive connections, as server-side dry runs: complete admissions without
 * stored objects. Slow responses do not lower the rate of the requests.
 */
import { Agent, type RequestOptions, request } from "node:https";
import { setTimeout as pause } from "node:timers/promises";
import { KubeConfig, type V1Pod } from "@kubernetes/client-node";
import { isInjected } from "./server-answer.ts";
import type { Suite } from "./suite.ts";

export type CreationCounts = {
  readonly asked: number;
  /** Creations that were refused, or not answered in time. */
  readonly failed: number;
  /** Creations that were admitted without injection. */
  readonly missed: number;
  /** The first failures, each with its time. */
  readonly failures: readonly string[];
};

export type SteadyCreations = {
  readonly soFar: () => number;
  /** Stops, and resolves when all requests are answered. */
  readonly stop: () => Promise<CreationCounts>;
};

export type CreationPlan = { readonly perSecond: number; readonly pod: V1Pod; readonly namespace: string };

const CONNECTIONS = 5;
const ANSWER_LIMIT_MS = 35_000;
const REMEMBERED_FAILURES = 20;

export async function createSteadily(suite: Suite, plan: CreationPlan): Promise<SteadyCreations> {
  const ask = await creator(suite, plan);
  const failures: string[] = [];
  let asked = 0;
  const counts = { failed: 0, missed: 0 };
  let isStopped = false;
  const one = async (): Promise<void> => {
    const startedAt = new Date().toISOString();
    const { fate, why } = await ask();
    if (fate === "injected") return;
    counts[fate] += 1;
    if (failures.length < REMEMBERED_FAILURES) failures.push(`${startedAt} ${fate}: ${why}`);
  };
  const all = (async () => {
    const running = new Set<Promise<void>>();
    const startMs = performance.now();
    while (!isStopped) {
      const dueMs = startMs + (asked * 1_000) / plan.perSecond;
      await pause(Math.max(0, dueMs - performance.now()));
      asked += 1;
      const creation = one().finally(() => running.delete(creation));
      running.add(creation);
    }
    await Promise.all(running);
  })();
  return {
    soFar: () => asked,
    stop: async () => {
      isStopped = true;
      await all;
      return { asked, ...counts, failures };
    },
  };
}

type Fate = { readonly fate: "injected" | "missed" | "failed"; readonly why: string };

/** Returns a function that sends one dry run of the Pod. */
async function creator(suite: Suite, { namespace, pod }: CreationPlan): Promise<() => Promise<Fate>> {
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
      const answer = await post(url, { ...identity, method: "POST", agent, headers, timeout: ANSWER_LIMIT_MS }, body);
      if (answer.status !== 201) return { fate: "failed", why: `${answer.status} ${answer.text.slice(0, 400)}` };
      return {
        fate: isInjected(JSON.parse(answer.text)) ? "injected" : "missed",
        why: `warnings: ${answer.warning ?? "none"}`,
      };
    } catch (error) {
      return { fate: "failed", why: error instanceof Error ? error.message : String(error) };
    }
  };
}

type HttpAnswer = { readonly status: number; readonly text: string; readonly warning: string | undefined };

function post(url: string, options: RequestOptions, body: string): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const call = request(url, options, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      const warning = answer.headers.warning;
      answer.once("end", () => resolve({ status: answer.statusCode ?? 0, text, warning }));
      answer.once("error", reject);
    });
    call.once("timeout", () => call.destroy(new Error(`no answer within ${ANSWER_LIMIT_MS} ms`)));
    call.once("error", reject);
    call.end(body);
  });
}
