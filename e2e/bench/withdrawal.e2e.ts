/**
 * Measures, in 200 drains, the delay with which a manager receives a change of an EndpointSlice: from the event at another
 * watcher of the same API server to the line in the manager's log. Only four drains start each second, because nodes, API
 * server and Pods share the cores; afterwards 40 drains start together, for comparison. Prints results without asserting a limit.
 */
import type { V1EndpointSlice, V1Pod } from "@kubernetes/client-node";
import { expect, test } from "vitest";
import { type CaseNamespace, inNamespace } from "../client/case-namespace.ts";
import { expectInjectedPods } from "../client/injected-pods.ts";
import { OPT_IN } from "../client/installation.ts";
import { APP, APP_PORT, barePod, nodeContainer, sampleApp } from "../client/sample-app.ts";
import { readSuite } from "../client/suite.ts";
import { splitDocuments } from "../client/timeline.ts";
import { pauseMs, waitUntil } from "../host/wait.ts";

const BATCHES = 5;
const PODS_PER_BATCH = 40;
const DRAINS_PER_SECOND = 4;
const P99_GOAL_MS = 250;
/** The wait before the logs are read: slices mark a Pod as terminating within two seconds of its deletion. */
const PAUSE_BEFORE_LOGS_MS = 5_000;

const suite = readSuite(process.env);

/** An app that exits 25 s after its stop signal, so that the managers' logs can be read before their Pods are deleted. */
const LINGERING_APP = `
require("node:http").createServer((_, answer) => answer.end()).listen(${APP_PORT});
process.on("SIGTERM", () => setTimeout(() => process.exit(0), 25000));`;

test("a manager receives its Pod's withdrawal soon after the EndpointSlices changed", {
  timeout: 1_200_000,
}, async () => {
  await inNamespace(suite, "bench-withdrawal", { labels: OPT_IN, timeline: "pods" }, async (namespace) => {
    const service = sampleApp(namespace).filter(({ kind }) => kind === "Service");
    await namespace.apply(service);
    const withdrawnAtMs = new Map<string, number>();
    const watch = namespace.kubectl.follow(
      ["get", "endpointslices", "--watch", "--output=json"],
      splitDocuments<V1EndpointSlice>((slice) => recordWithdrawals(slice, withdrawnAtMs)),
    );
    const lagsMs: number[] = [];
    let simultaneousLagsMs: number[] = [];
    try {
      for (let number = 0; number < BATCHES; number += 1)
        lagsMs.push(
          ...(await measureLags(namespace, { number, deletionsPerSecond: DRAINS_PER_SECOND }, withdrawnAtMs)),
        );
      simultaneousLagsMs = await measureLags(
        namespace,
        { number: BATCHES, deletionsPerSecond: PODS_PER_BATCH },
        withdrawnAtMs,
      );
    } finally {
      watch.kill();
    }
    const percentiles = percentilesOf(lagsMs);
    namespace.saveArtifact("lags.json", JSON.stringify({ percentiles, lags: lagsMs, atOnce: simultaneousLagsMs }));
    const comparison = percentiles.p99 <= P99_GOAL_MS ? "met" : "missed";
    const summary = `${DRAINS_PER_SECOND} drains a second: ${JSON.stringify(percentiles)}; goal p99 ${P99_GOAL_MS}: ${comparison}`;
    process.stdout.write(
      `withdrawal to manager, ms: ${summary}; all at once: ${JSON.stringify(percentilesOf(simultaneousLagsMs))}\n`,
    );
    expect(lagsMs).toHaveLength(BATCHES * PODS_PER_BATCH);
    expect([...lagsMs, ...simultaneousLagsMs].filter((ms) => !Number.isFinite(ms))).toEqual([]);
  });
});

function percentilesOf(lags: readonly number[]) {
  const sorted = lags.toSorted((one, other) => one - other);
  const valueAt = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  return { drains: sorted.length, p50: valueAt(0.5), p90: valueAt(0.9), p99: valueAt(0.99), max: valueAt(1) };
}

type Batch = { readonly number: number; readonly deletionsPerSecond: number };

async function measureLags(
  namespace: CaseNamespace,
  batch: Batch,
  withdrawnAtMs: ReadonlyMap<string, number>,
): Promise<number[]> {
  const annotations = { "lastcall.dev/drain-delay": "2s", "lastcall.dev/quiet-period": "1s" };
  const container = {
    ...nodeContainer(namespace, "app", ["-e", LINGERING_APP]),
    readinessProbe: { tcpSocket: { port: APP_PORT }, periodSeconds: 2 },
    ports: [{ containerPort: APP_PORT }],
  };
  const labels = { app: APP, batch: `${batch.number}` };
  const podNames = Array.from({ length: PODS_PER_BATCH }, (_, at) => `${APP}-${batch.number}-${at}`);
  await namespace.apply(podNames.map((name) => barePod(namespace, name, [container], { annotations, labels })));
  const selector = `batch=${batch.number}`;
  await namespace.kubectl.run(["wait", "--for=condition=Ready", "pods", `--selector=${selector}`, "--timeout=240s"]);
  const pods = await expectInjectedPods(namespace, selector);
  for (let firstIndex = 0; firstIndex < PODS_PER_BATCH; firstIndex += batch.deletionsPerSecond) {
    if (firstIndex > 0) await pauseMs(1_000);
    await namespace.kubectl.run([
      "delete",
      "pods",
      ...podNames.slice(firstIndex, firstIndex + batch.deletionsPerSecond),
      "--wait=false",
    ]);
  }
  // Reading 40 logs earlier would take CPU time from the measured programs.
  await pauseMs(PAUSE_BEFORE_LOGS_MS);
  const receivedAtMs = await waitUntil(
    { condition: "every manager has logged its withdrawal", withinMs: 120_000, everyMs: 2_000 },
    () => readWithdrawalTimes(namespace, selector),
  );
  await namespace.kubectl.run(["wait", "--for=delete", "pods", `--selector=${selector}`, "--timeout=120s"]);
  return pods.map(
    (pod) => (receivedAtMs.get(nameOf(pod)) ?? Number.NaN) - (withdrawnAtMs.get(pod.metadata?.uid ?? "") ?? Number.NaN),
  );
}

/** Returns the times at which the managers logged the withdrawal; `undefined` until every manager has logged it. */
async function readWithdrawalTimes(
  namespace: CaseNamespace,
  selector: string,
): Promise<ReadonlyMap<string, number> | undefined> {
  const logFlags = [
    "--container=lastcall",
    "--timestamps",
    "--prefix",
    "--tail=-1",
    `--max-log-requests=${PODS_PER_BATCH}`,
  ];
  const { output } = await namespace.kubectl.attempt(["logs", `--selector=${selector}`, ...logFlags]);
  const lines = output.split("\n");
  if (lines.filter((line) => line.includes('"drain report"')).length < PODS_PER_BATCH) return undefined;
  const times = new Map<string, number>();
  for (const line of lines) {
    const match = /^\[pod\/([^/]+)\/lastcall\] (\S+) \{"level":"info","message":"relay","detail":"out/.exec(line);
    const [, pod, timeText] = match ?? [];
    if (pod !== undefined && timeText !== undefined && !times.has(pod)) times.set(pod, Date.parse(timeText));
  }
  return times;
}

function recordWithdrawals(slice: V1EndpointSlice, withdrawnAtMs: Map<string, number>): void {
  for (const { conditions, targetRef } of slice.endpoints ?? []) {
    const uid = targetRef?.uid ?? "";
    if (conditions?.terminating === true && !withdrawnAtMs.has(uid)) withdrawnAtMs.set(uid, Date.now());
  }
}

function nameOf(pod: V1Pod): string {
  return pod.metadata?.name ?? "";
}
