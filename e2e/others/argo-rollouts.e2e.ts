/** Updates Rollouts of a real Argo Rollouts under load, with a canary and with blue-green, with and without lastcall. */
import type { KubernetesObject } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  importArgoRollouts,
  installArgoRollouts,
  sampleRollout,
  uninstallArgoRollouts,
  updateArgoRollout,
  waitForArgoRollout,
} from "../client/argo-rollouts.ts";
import { type CaseNamespace, inNamespace } from "../client/case-namespace.ts";
import { runLastcall } from "../client/command-line.ts";
import { documentedAnalysis, withDocumentedPermissions } from "../client/documented-verify.ts";
import { recordLine } from "../client/guide-on-cluster.ts";
import { expectInjectedPods } from "../client/injected-pods.ts";
import { OPT_IN } from "../client/installation.ts";
import type { LoadOptions } from "../client/load.ts";
import { RELEASE_NAMESPACE } from "../client/release.ts";
import { APP, appWithShutdown, HTTP_DRIVER_ANNOTATIONS } from "../client/sample-app.ts";
import { readSuite } from "../client/suite.ts";
import { MIN_REQUESTS, underLoad } from "../client/under-load.ts";

const suite = readSuite(process.env);

type Strategy = {
  readonly name: string;
  readonly strategy: Readonly<Record<string, unknown>>;
  readonly flags: NonNullable<LoadOptions["flags"]>;
};

const STRATEGIES: readonly Strategy[] = [
  {
    name: "canary",
    strategy: { canary: { maxSurge: 1, maxUnavailable: 0, steps: [{ setWeight: 50 }, { pause: { duration: "5s" } }] } },
    flags: {},
  },
  // Argo keeps the old Pods for the delay after they left the Service, so only clients with older connections lose requests.
  {
    name: "blue-green",
    strategy: { blueGreen: { activeService: APP, scaleDownDelaySeconds: 10 } },
    flags: { endless: 6 },
  },
];

beforeAll(async () => {
  await importArgoRollouts(suite);
  await installArgoRollouts(suite);
}, 1_800_000);
afterAll(() => uninstallArgoRollouts(suite), 300_000);

describe("an update of a Rollout", { timeout: 900_000 }, () => {
  test.each(STRATEGIES)("of the strategy $name loses requests without lastcall", async (strategy) => {
    await inNamespace(suite, `argo-${strategy.name}-bare`, {}, async (namespace) => {
      expect(await failuresOf(namespace, strategy)).toBeGreaterThan(0);
    });
  });

  test.each(STRATEGIES)("of the strategy $name does not lose a request with lastcall", async (strategy) => {
    await inNamespace(suite, `argo-${strategy.name}`, { labels: OPT_IN }, async (namespace) => {
      expect(await failuresOf(namespace, strategy)).toBe(0);
      await expectInjectedPods(namespace, `app=${APP}`);
    });
  });

  test("completes if the documented analysis, its last step, finds no cut connection, as `verify` does", async () => {
    await inNamespace(suite, "argo-analysis", { labels: OPT_IN }, async (namespace) => {
      const analysis = documentedAnalysis(namespace);
      await namespace.apply([analysis]);
      const templates = [{ templateName: analysis.metadata?.name }];
      const args = [{ name: "workload", value: `Rollout/${APP}` }];
      const canary = { maxSurge: 1, maxUnavailable: 0, steps: [{ setWeight: 100 }, { analysis: { templates, args } }] };
      await withDocumentedPermissions(namespace, async () => {
        await namespace.apply(sampleRollout(namespace, { canary }, appWithShutdown("graceful")));
        await waitForArgoRollout(namespace);
        await underLoad(namespace, () => updateArgoRollout(namespace, "second"));
      });
      expect(await analysisPhases(namespace)).toEqual(["Successful"]);
      const flags = ["-n", namespace.name, "--lastcall-namespace", RELEASE_NAMESPACE];
      const { output } = await runLastcall(suite, ["verify", `Rollout/${APP}`, ...flags]);
      expect(output).toContain("2 Pods terminated and did not cut a connection");
    });
  });
});

async function failuresOf(namespace: CaseNamespace, { name, strategy, flags }: Strategy): Promise<number> {
  await namespace.apply(sampleRollout(namespace, strategy, { annotations: HTTP_DRIVER_ANNOTATIONS }));
  await waitForArgoRollout(namespace);
  const { requests, failed } = await underLoad(namespace, () => updateArgoRollout(namespace, "second"), flags);
  recordLine(namespace, `${name}: ${failed} of ${requests} requests failed`);
  expect(requests).toBeGreaterThan(MIN_REQUESTS);
  return failed;
}

type AnalysisRun = KubernetesObject & { readonly status?: { readonly phase?: string } };

async function analysisPhases(namespace: CaseNamespace): Promise<readonly (string | undefined)[]> {
  const { items } = await namespace.kubectl.json<{ readonly items: readonly AnalysisRun[] }>([
    "get",
    "analysisruns.argoproj.io",
  ]);
  return items.map(({ status }) => status?.phase);
}
