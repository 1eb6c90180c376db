/** Tests that Pods start during an outage of the webhook, and with `Fail` also during a rollout of the webhook. */
import { afterAll, describe, expect, test } from "vitest";
import { type CaseNamespace, inNamespace } from "../client/case-namespace.ts";
import { createPod, isInjected } from "../client/create-pods.ts";
import { expectInjectedPods } from "../client/injected-pods.ts";
import { install, OPT_IN, waitForInjection } from "../client/installation.ts";
import { RELEASE_NAMESPACE } from "../client/release.ts";
import { APP, appContainer, barePod, sampleApp } from "../client/sample-app.ts";
import { createSteadily } from "../client/steady-creations.ts";
import { readSuite } from "../client/suite.ts";
import { listWebhookPods, readSamples, sumOfSamples } from "../client/webhook-metrics.ts";
import { waitUntil } from "../host/wait.ts";

const suite = readSuite(process.env);
const NAMESPACE_OPTIONS = { labels: OPT_IN };
const WEBHOOK_DEPLOYMENT = "deployment/lastcall-webhook";
const MIN_CREATIONS = 500;
const NOT_INJECTED_WARNING =
  "lastcall: this Pod should be injected and was created without injection: its termination may drop requests. Check that the webhook runs.";

afterAll(() => install(suite));

describe("if the webhook is unreachable", () => {
  test("Pods start without injection and with a warning until the webhook is reachable again", async () => {
    await inNamespace(suite, "webhook-away", NAMESPACE_OPTIONS, async (namespace) => {
      try {
        await runInRelease(namespace, ["scale", WEBHOOK_DEPLOYMENT, "--replicas=0"]);
        await waitUntil({ condition: "no replica runs", withinMs: 90_000, everyMs: 300 }, async () =>
          (await runInRelease(namespace, ["get", "pods", "--output=name"])) === "" ? true : undefined,
        );
        await namespace.apply(sampleApp(namespace));
        await namespace.waitForRollout(`deployment/${APP}`);
        expect((await namespace.pods(`app=${APP}`)).map(isInjected)).toEqual([false, false]);
        const { warnings } = await createPod(
          namespace.kubectl,
          barePod(namespace, "by-hand", [appContainer(namespace)]),
        );
        expect(warnings.join("\n")).toContain(NOT_INJECTED_WARNING);
      } finally {
        await restoreWebhook(namespace);
      }
      await namespace.kubectl.run(["rollout", "restart", `deployment/${APP}`]);
      await namespace.waitForRollout(`deployment/${APP}`);
      await namespace.waitForTerminations(`app=${APP}`);
      await expectInjectedPods(namespace, `app=${APP}`);
      const { warnings } = await createPod(namespace.kubectl, barePod(namespace, "again", [appContainer(namespace)]));
      expect(warnings).toEqual([]);
    });
  });
});

describe("with failurePolicy Fail", () => {
  test("all Pods are created and injected at 50 a second during a rollout of the webhook", async () => {
    await inNamespace(suite, "webhook-rollout", NAMESPACE_OPTIONS, async (namespace) => {
      await install(suite, { failurePolicy: "Fail" });
      const earlierUids = (await listWebhookPods(namespace.clusterKubectl)).map(({ metadata }) => metadata?.uid);
      const pod = barePod(namespace, "probe", [appContainer(namespace)]);
      const creations = await createSteadily(suite, { perSecond: 50, pod, namespace: namespace.name });
      try {
        await runInRelease(namespace, ["rollout", "restart", WEBHOOK_DEPLOYMENT]);
        await runInRelease(namespace, ["rollout", "status", WEBHOOK_DEPLOYMENT, "--timeout=180s"]);
        await waitUntil({ condition: "only new replicas run", withinMs: 90_000, everyMs: 300 }, async () => {
          const podUids = await runInRelease(namespace, ["get", "pods", "--output=jsonpath={.items[*].metadata.uid}"]);
          return earlierUids.some((uid) => podUids.includes(uid ?? "")) ? undefined : true;
        });
        await waitUntil({ condition: "enough creations were requested", withinMs: 60_000 }, () =>
          creations.countSoFar() > MIN_CREATIONS ? true : undefined,
        );
      } finally {
        const counts = await creations.stop();
        namespace.saveArtifact("creations.json", JSON.stringify(counts, null, 2));
        expect(counts).toMatchObject({ failed: 0, missed: 0, failures: [] });
      }
    });
  });

  test("if the webhook is unreachable, Pod creations in opted-in namespaces fail with the webhook's name, and other Pods start", async () => {
    await inNamespace(suite, "webhook-away-fail", NAMESPACE_OPTIONS, async (namespace) => {
      await install(suite, { failurePolicy: "Fail" });
      try {
        await runInRelease(namespace, ["scale", WEBHOOK_DEPLOYMENT, "--replicas=0"]);
        const pod = barePod(namespace, "by-hand", [appContainer(namespace)]);
        const refusal = await waitUntil({ condition: "a Pod is refused", withinMs: 90_000, everyMs: 500 }, async () => {
          const dryRunArgs = ["create", "--dry-run=server", "--filename=-"];
          const { status, stderr } = await namespace.kubectl.attempt(dryRunArgs, JSON.stringify(pod));
          return status === 0 ? undefined : stderr;
        });
        expect(refusal).toContain("namespace.drain.lastcall.dev");
        const optOutOptions = { labels: { "lastcall.dev/inject": "disabled" } };
        await createPod(namespace.kubectl, barePod(namespace, "opted-out", [appContainer(namespace)], optOutOptions));
        const windowsOptions = { pod: { nodeSelector: { "kubernetes.io/os": "windows" } } };
        await createPod(namespace.kubectl, barePod(namespace, "windows", [appContainer(namespace)], windowsOptions));
        // The webhook's configuration does not match the webhook's own Pods, so they can always be created.
        await restoreWebhook(namespace);
        expect((await createPod(namespace.kubectl, pod)).pods.map(isInjected)).toEqual([true]);
      } finally {
        await restoreWebhook(namespace);
      }
    });
  });
});

describe("a real API server", () => {
  test("sends every admission review with a Content-Length, for small Pods and for a Pod of a megabyte", async () => {
    await inNamespace(suite, "review-length", NAMESPACE_OPTIONS, async (namespace) => {
      const refusedCountBefore = await countRefusedWithoutLength(namespace);
      const env = Array.from({ length: 10 }, (_, index) => ({ name: `LARGE_${index}`, value: "x".repeat(100_000) }));
      const smallPod = barePod(namespace, "small", [appContainer(namespace)]);
      const largePod = barePod(namespace, "large", [{ ...appContainer(namespace), env }]);
      for (const pod of [smallPod, largePod]) {
        expect((await createPod(namespace.kubectl, pod)).pods.map(isInjected)).toEqual([true]);
      }
      expect(await countRefusedWithoutLength(namespace)).toBe(refusedCountBefore);
    });
  });
});

async function countRefusedWithoutLength({ clusterKubectl: kubectl }: CaseNamespace): Promise<number> {
  return sumOfSamples(await readSamples(kubectl, "lastcall_requests_refused_total", ['reason="without_length"']));
}

async function restoreWebhook(namespace: CaseNamespace): Promise<void> {
  await runInRelease(namespace, ["scale", WEBHOOK_DEPLOYMENT, "--replicas=2"]);
  await runInRelease(namespace, ["rollout", "status", WEBHOOK_DEPLOYMENT, "--timeout=120s"]);
  await waitForInjection(suite);
}

function runInRelease(namespace: CaseNamespace, args: readonly string[]): Promise<string> {
  return namespace.clusterKubectl.run(["--namespace", RELEASE_NAMESPACE, ...args]);
}
