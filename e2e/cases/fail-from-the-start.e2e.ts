/** Tests a first installation with `failurePolicy: Fail`: it does not require a manual step, and does not refuse Pods while it runs. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { inNamespace } from "../client/case-namespace.ts";
import { dryRunCreate, isInjected } from "../client/create-pods.ts";
import { install, OPT_IN, uninstall } from "../client/installation.ts";
import { kubectlOf } from "../client/kubectl.ts";
import { RELEASE_NAMESPACE } from "../client/release.ts";
import { appContainer, barePod } from "../client/sample-app.ts";
import { createSteadily } from "../client/steady-creations.ts";
import { readSuite } from "../client/suite.ts";
import { waitUntil } from "../host/wait.ts";

const suite = readSuite(process.env);
const FAIL_VALUES = { failurePolicy: "Fail" };

beforeAll(() => uninstall(suite), 200_000);
afterAll(() => install(suite), 400_000);

test("an installation with failurePolicy Fail refuses Pods only while the webhook is down and its configuration exists", async () => {
  await inNamespace(suite, "fail-from-the-start", { labels: OPT_IN }, async (namespace) => {
    const pod = barePod(namespace, "probe", [appContainer(namespace)]);
    const dryRun = () => dryRunCreate(namespace.kubectl, [pod]);
    const creations = await createSteadily(suite, { perSecond: 20, pod, namespace: namespace.name });
    try {
      await install(suite, FAIL_VALUES);
      await install(suite, { ...FAIL_VALUES, webhook: { timeoutSeconds: 6 } });
    } finally {
      const counts = await creations.stop();
      namespace.saveArtifact("creations.json", JSON.stringify(counts, null, 2));
      expect(counts).toMatchObject({ failed: 0 });
      expect(counts.missed).toBeGreaterThan(0);
    }
    expect((await dryRun()).pods.map(isInjected)).toEqual([true]);

    const releaseFlags = ["--namespace", RELEASE_NAMESPACE];
    await kubectlOf(suite).run([...releaseFlags, "scale", "deployment/lastcall-webhook", "--replicas=0"]);
    await waitUntil({ condition: "a Pod is refused", withinMs: 90_000, everyMs: 500 }, async () =>
      (await dryRun().catch(() => undefined)) === undefined ? true : undefined,
    );
    await kubectlOf(suite).run(["delete", "mutatingwebhookconfiguration", "enforce.lastcall.dev"]);
    await waitUntil({ condition: "Pods are admitted", withinMs: 30_000, everyMs: 500 }, async () =>
      (await dryRun().catch(() => undefined)) === undefined ? undefined : true,
    );
  });
}, 600_000);
