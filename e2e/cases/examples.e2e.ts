/** Tests the manifests of the guides on a real API server, and runs their Pods if the nodes have the images. */
import { beforeAll, describe, expect, test } from "vitest";
import type { DrainReport } from "../../src/contract/drain-report.ts";
import { readGuide } from "../../test/guides/manifests.ts";
import { type CaseNamespace, inNamespace } from "../client/case-namespace.ts";
import { tagExampleImages } from "../client/example-programs.ts";
import { applyGuide, expectRunning, namespaceLabels, recordLine } from "../client/guide-on-cluster.ts";
import { nameOf } from "../client/injected-pods.ts";
import { clusterIp, startLoadOn } from "../client/load.ts";
import { drainReport, followLog, MANAGER } from "../client/pod-log.ts";
import { saveDrain } from "../client/save-drain.ts";
import { readSuite } from "../client/suite.ts";
import { MIN_REQUESTS } from "../client/under-load.ts";

const suite = readSuite(process.env);

// The image names in the guides are aliases of the suite's images, and exist only on the nodes of the suite's own cluster.
describe.skipIf(suite.context !== undefined)("the manifest of the guide", () => {
  beforeAll(() => tagExampleImages(suite));

  // Namespaces take a while to terminate, so manifests with the same namespace are not adjacent.
  testMeshGuide("istio");

  test("rabbitmq runs its consumers, and a deleted consumer's drain has the outcome `not-needed`", async () => {
    await withGuide("rabbitmq", "orders", async (namespace, running) => {
      expect(running).toEqual(["Deployment/consumer"]);
      await namespace.waitForRollout("deployment/consumer");
      await expectRunning(namespace, "rabbitmq", "Deployment/consumer", "app=consumer");
      expect(await deleteAndSaveDrain(namespace, "app=consumer", "rabbitmq")).toMatchObject({ outcome: "not-needed" });
    });
  });

  testMeshGuide("linkerd");
  testAdmission("contour", "projectcontour");

  test("jobs runs two Jobs, of which one is injected, and this Job's Pod is drained if it is deleted while it works", async () => {
    await withGuide("jobs", "shop", async (namespace, running) => {
      expect(running).toEqual(["Job/report", "Job/import"]);
      const jobSelector = "batch.kubernetes.io/job-name=import";
      await namespace.kubectl.run([
        "wait",
        "--for=condition=Ready",
        "pods",
        `--selector=${jobSelector}`,
        "--timeout=60s",
      ]);
      await expectRunning(namespace, "jobs", "Job/import", jobSelector);
      expect(await deleteAndSaveDrain(namespace, jobSelector, "jobs")).toMatchObject({ outcome: "drained" });
      for (const name of ["report", "import"])
        await namespace.kubectl.run(["wait", "--for=condition=Complete", `job/${name}`, "--timeout=90s"]);
    });
  });

  testAdmission("ingress-nginx", "ingress-nginx");

  test("envoy-gateway or argo-workflows is refused in a cluster without its controller's CRDs", async () => {
    await inNamespace(suite, "unknown-kinds", {}, async (namespace) => {
      for (const guide of ["envoy-gateway", "argo-workflows"]) {
        const dryRunArgs = ["create", "--dry-run=server", "--filename=-"];
        const { status, stderr } = await namespace.clusterKubectl.attempt(dryRunArgs, readGuide(guide).manifest);
        expect(status).not.toBe(0);
        expect(stderr).toContain("ensure CRDs are installed first");
        recordLine(namespace, `${guide}: not applied, because this cluster does not have the CRDs of its controller.`);
      }
    });
  });
});

/** The cluster does not have a mesh, so the test covers only the annotations for the mesh. */
function testMeshGuide(guide: "istio" | "linkerd"): void {
  test(`${guide} runs unchanged, excludes the manager's port from the mesh, and does not lose a request when a Pod is deleted`, async () => {
    await withGuide(guide, "shop", async (namespace, running) => {
      expect(running).toEqual(["Deployment/web"]);
      await namespace.waitForRollout("deployment/web");
      await expectRunning(namespace, guide, "Deployment/web", "app=web");
      const load = await startLoadOn(namespace, suite.nodes[0], { host: await clusterIp(namespace, "web"), port: 80 });
      const report = await deleteAndSaveDrain(namespace, "app=web", guide);
      await namespace.waitForTerminations("app=web");
      const { requests, failed } = await load.stop();
      expect(report).toMatchObject({ outcome: "drained" });
      expect(requests).toBeGreaterThan(MIN_REQUESTS);
      expect(failed).toBe(0);
    });
  });
}

function testAdmission(guide: string, name: string): void {
  test(`${guide} is admitted, and the webhook injects its Pods like the command line`, async () => {
    await withGuide(guide, name, async (_, running) => expect(running).toEqual([]));
  });
}

type GuideTest = (namespace: CaseNamespace, running: readonly string[]) => Promise<void>;

function withGuide(guide: string, name: string, work: GuideTest): Promise<void> {
  return inNamespace(suite, name, { labels: namespaceLabels(guide) }, async (namespace) => {
    await work(namespace, await applyGuide(namespace, guide));
  });
}

/** Deletes one of the Pods, and saves its drain for the guide's picture. */
async function deleteAndSaveDrain(namespace: CaseNamespace, selector: string, guide: string): Promise<DrainReport> {
  const [pod] = await namespace.pods(selector);
  const name = pod === undefined ? "" : nameOf(pod);
  const manager = followLog(namespace, name, MANAGER);
  await manager.waitFor("listening");
  await namespace.kubectl.run(["delete", "pod", name, "--wait=false"]);
  const report = await drainReport(manager, 90);
  await saveDrain(namespace, guide, name);
  return report;
}
