/** Tests the preload library, which closes keep-alive connections, on nodes that can mount images and on nodes that cannot. */
import type { V1NodeList, V1Pod } from "@kubernetes/client-node";
import { describe, expect, test } from "vitest";
import type { DrainReport } from "../../src/contract/drain-report.ts";
import { isAtLeast, parseVersion } from "../../src/kubernetes/version.ts";
import {
  findRuntimeWithoutImageVolumes,
  lowestKubeletVersion,
  reduceNode,
} from "../../src/webhook/cluster/cluster-facts.ts";
import { type CaseNamespace, inNamespace } from "../client/case-namespace.ts";
import { createAndDrain, DELETION_TRIGGER } from "../client/create-and-drain.ts";
import { expectInjectedPods, nameOf } from "../client/injected-pods.ts";
import { OPT_IN } from "../client/installation.ts";
import { drainReport, followLog, MANAGER } from "../client/pod-log.ts";
import { APP, appContainer, barePod, sampleApp } from "../client/sample-app.ts";
import { readSuite } from "../client/suite.ts";
import { MIN_REQUESTS, restartRollout, underLoad } from "../client/under-load.ts";
import { PAUSE_IMAGE } from "../cluster/node-programs.ts";

const suite = readSuite(process.env);
/** The restricted level must allow image volumes and all other injected parts. */
const NAMESPACE_OPTIONS = { labels: { ...OPT_IN, "pod-security.kubernetes.io/enforce": "restricted" } };
/** Longer than the patience of 10 s with the search of at most 3 s for a sample with few outstanding responses. */
const SHORT_TIMEOUT_ANNOTATION = { "lastcall.dev/drain-timeout": "20s" };
const PRELOAD_ANNOTATIONS = { ...SHORT_TIMEOUT_ANNOTATION, "lastcall.dev/preload": "http1" };

/** Returns the version of a kubelet or container runtime that cannot mount images; `undefined` if every node can. */
async function findOldVersion(namespace: CaseNamespace): Promise<string | undefined> {
  const { items } = await namespace.clusterKubectl.json<V1NodeList>(["get", "nodes"]);
  const nodes = items.map((node) => reduceNode(JSON.parse(JSON.stringify(node))));
  const kubelet = lowestKubeletVersion(nodes) ?? "";
  const version = parseVersion(kubelet);
  return version !== undefined && isAtLeast(version, 1, 36) ? findRuntimeWithoutImageVolumes(nodes) : kubelet;
}

describe("a rollout of an app without drain support, with endless clients", () => {
  test("with preload: http1 does not lose a request, and every drain has the outcome `drained`", async (context) => {
    await inNamespace(suite, "preload", NAMESPACE_OPTIONS, async (namespace) => {
      const oldVersion = await findOldVersion(namespace);
      if (oldVersion !== undefined) return context.skip(`a node cannot mount images: ${oldVersion}`);
      const { reports, requests, failed } = await rolloutUnderLoad(namespace, PRELOAD_ANNOTATIONS);
      expect(requests).toBeGreaterThan(MIN_REQUESTS);
      expect(failed).toBe(0);
      expect(reports.map(({ outcome }) => outcome)).toEqual(["drained", "drained"]);
      for (const { preload } of reports) expect(preload?.processes).toBeGreaterThan(0);
      expect(reports.reduce((sum, { preload }) => sum + (preload?.connections ?? 0), 0)).toBeGreaterThan(0);
    });
  });

  test("without preload leaves the clients to the app at the end of the patience", async () => {
    await inNamespace(suite, "preload-not", NAMESPACE_OPTIONS, async (namespace) => {
      const { reports } = await rolloutUnderLoad(namespace, SHORT_TIMEOUT_ANNOTATION);
      expect(reports.map(({ outcome }) => outcome)).toEqual(["handed-over", "handed-over"]);
      for (const report of reports) expect(report).not.toHaveProperty("preload");
    });
  });
});

// Other clusters may not have the image.
test.skipIf(suite.context !== undefined)(
  "a statically linked program with preload: http1 runs unchanged, and the report does not count a process with the preload library",
  async (context) => {
    await inNamespace(suite, "preload-static", NAMESPACE_OPTIONS, async (namespace) => {
      const oldVersion = await findOldVersion(namespace);
      if (oldVersion !== undefined) return context.skip(`a node cannot mount images: ${oldVersion}`);
      const { securityContext = {} } = appContainer(namespace);
      const container = { name: "app", image: PAUSE_IMAGE, imagePullPolicy: "Never", securityContext };
      const { pod, report } = await createAndDrain(
        namespace,
        barePod(namespace, "static", [container], { annotations: PRELOAD_ANNOTATIONS }),
      );
      expect(JSON.stringify(pod.spec?.containers)).toContain("LD_PRELOAD");
      expect(report).toMatchObject({ outcome: "not-needed", preload: { processes: 0 } });
    });
  },
);

describe("a Pod with the preload setting, if a node cannot mount images,", () => {
  test("runs and drains without the preload library, with a warning", async (context) => {
    await inNamespace(suite, "preload-old", NAMESPACE_OPTIONS, async (namespace) => {
      const oldVersion = await findOldVersion(namespace);
      if (oldVersion === undefined) return context.skip("all nodes mount images");
      const manifest = barePod(namespace, APP, [appContainer(namespace)], { annotations: PRELOAD_ANNOTATIONS });
      const { pod, warnings, report } = await createAndDrain(namespace, manifest);
      expect(warnings.join("\n")).toContain(oldVersion);
      expect(JSON.stringify(pod.spec)).not.toContain("preload");
      expect(report).toMatchObject({ outcome: "drained", trigger: DELETION_TRIGGER });
    });
  });
});

type RolloutResult = { readonly reports: readonly DrainReport[]; readonly requests: number; readonly failed: number };

/** Replaces both Pods of a Deployment while endless clients send on keep-alive connections. */
async function rolloutUnderLoad(
  namespace: CaseNamespace,
  annotations: Readonly<Record<string, string>>,
): Promise<RolloutResult> {
  await namespace.apply(sampleApp(namespace, { annotations }));
  await namespace.waitForRollout(`deployment/${APP}`);
  const pods: readonly V1Pod[] = await expectInjectedPods(namespace, `app=${APP}`);
  const managerLogs = pods.map((pod) => followLog(namespace, nameOf(pod), MANAGER));
  const result = await underLoad(namespace, () => restartRollout(namespace), { endless: 6 });
  const reports = await Promise.all(managerLogs.map((manager) => drainReport(manager, 90)));
  namespace.saveArtifact("reports.json", JSON.stringify(reports, null, 2));
  return { reports, requests: result.requests, failed: result.failed };
}
