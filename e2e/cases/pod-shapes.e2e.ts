/** Tests unusual Pods: each is injected, becomes ready, drains and terminates. */
import type { V1Pod } from "@kubernetes/client-node";
import { describe, expect, test } from "vitest";
import { inNamespace } from "../client/case-namespace.ts";
import { createAndDrain, DELETION_TRIGGER } from "../client/create-and-drain.ts";
import { warningsIn } from "../client/create-pods.ts";
import { managerOf } from "../client/injected-pods.ts";
import { OPT_IN } from "../client/installation.ts";
import { followLog, loggedAtMs, type PodLog } from "../client/pod-log.ts";
import { APP, appContainer, barePod, sampleApp } from "../client/sample-app.ts";
import { readSuite } from "../client/suite.ts";
import { PAUSE_IMAGE } from "../cluster/node-programs.ts";
import { waitUntil } from "../host/wait.ts";

const suite = readSuite(process.env);
const NAMESPACE_OPTIONS = { labels: OPT_IN };
/** The shortest possible drain. */
const SHORT_DRAIN = { "lastcall.dev/drain-delay": "1s", "lastcall.dev/quiet-period": "1s" };
const TOKEN_MOUNT_PATH = "/var/run/secrets/kubernetes.io/serviceaccount";

describe("in a namespace that enforces the restricted Pod Security level", () => {
  test("a Deployment is injected without a warning, and its Pods start, drain and terminate", async () => {
    const restrictedLabels = {
      "pod-security.kubernetes.io/enforce": "restricted",
      "pod-security.kubernetes.io/warn": "restricted",
    };
    await inNamespace(suite, "restricted", { labels: { ...OPT_IN, ...restrictedLabels } }, async (namespace) => {
      const list = { apiVersion: "v1", kind: "List", items: sampleApp(namespace, { annotations: SHORT_DRAIN }) };
      const { status, stderr } = await namespace.kubectl.attempt(["apply", "--filename=-"], JSON.stringify(list));
      expect([status, warningsIn(stderr)]).toEqual([0, []]);
      await namespace.waitForRollout(`deployment/${APP}`);
      const { report, warnings } = await createAndDrain(
        namespace,
        barePod(namespace, "alone", [appContainer(namespace)], { annotations: SHORT_DRAIN }),
      );
      expect(warnings).toEqual([]);
      expect(report).toMatchObject({ outcome: "drained", trigger: DELETION_TRIGGER });
    });
  });
});

describe("the token of the Pod's ServiceAccount", () => {
  for (const mountsToken of [true, false]) {
    test(`is ${mountsToken ? "mounted only into the app" : "not mounted"} if the Pod ${mountsToken ? "enables" : "disables"} it, and the Pod drains`, async () => {
      await inNamespace(suite, `token-${mountsToken}`, NAMESPACE_OPTIONS, async (namespace) => {
        const pod = { automountServiceAccountToken: mountsToken };
        const manifest = barePod(namespace, APP, [appContainer(namespace)], { annotations: SHORT_DRAIN, pod });
        const { pod: runningPod, report } = await createAndDrain(namespace, manifest);
        const mountPaths = [managerOf(runningPod), ...(runningPod.spec?.containers ?? [])].map(
          ({ name, volumeMounts }) => [name, (volumeMounts ?? []).map(({ mountPath }) => mountPath)],
        );
        const expectedPaths = mountsToken ? [TOKEN_MOUNT_PATH] : [];
        expect(mountPaths).toEqual([
          ["lastcall", expectedPaths],
          ["app", expectedPaths],
        ]);
        expect(report).toMatchObject({ outcome: "drained", trigger: DELETION_TRIGGER });
      });
    });
  }
});

describe("a Pod", () => {
  test("with a shared process namespace is drained before its app is stopped", async () => {
    await inNamespace(suite, "shared-processes", NAMESPACE_OPTIONS, async (namespace) => {
      const manifest = barePod(namespace, APP, [appContainer(namespace)], {
        annotations: SHORT_DRAIN,
        pod: { shareProcessNamespace: true },
      });
      const appLogs: PodLog[] = [];
      const { report, deletedAtMs } = await createAndDrain(namespace, manifest, async () => {
        appLogs.push(followLog(namespace, APP, "app"));
        await appLogs[0]?.waitFor("started");
      });
      expect(report).toMatchObject({ outcome: "drained", trigger: DELETION_TRIGGER });
      const [appLog] = appLogs;
      if (appLog === undefined) throw new Error(`Pod ${APP}: the log of its app is not followed.`);
      expect(await loggedAtMs(appLog, "SIGTERM")).toBeGreaterThanOrEqual(deletedAtMs + 1_000);
    });
  });

  // Other clusters may not have the image.
  test.skipIf(suite.context !== undefined)(
    "with one statically linked program that does not listen is not drained",
    async () => {
      await inNamespace(suite, "distroless", NAMESPACE_OPTIONS, async (namespace) => {
        const container = {
          name: "app",
          image: PAUSE_IMAGE,
          imagePullPolicy: "Never",
          securityContext: appContainer(namespace).securityContext ?? {},
        };
        const { report, pod } = await createAndDrain(namespace, barePod(namespace, "static", [container]));
        expect(pod.spec?.containers[0]?.lifecycle?.preStop?.httpGet).toBeDefined();
        expect(report).toMatchObject({ outcome: "not-needed" });
      });
    },
  );

  test("with a read-only root file system accepts an ephemeral container, and drains", async () => {
    await inNamespace(suite, "debugged", NAMESPACE_OPTIONS, async (namespace) => {
      const manifest = barePod(namespace, APP, [appContainer(namespace)], { annotations: SHORT_DRAIN });
      const { report } = await createAndDrain(namespace, manifest, async (pod) => {
        expect(managerOf(pod).securityContext?.readOnlyRootFilesystem).toBe(true);
        const image = pod.spec?.containers[0]?.image;
        const command = ["/usr/local/bin/node", "-e", "setTimeout(() => console.log('inspected'), 500)"];
        await namespace.kubectl.run([
          ...["debug", `pod/${APP}`, "--container=visitor", `--image=${image}`, "--image-pull-policy=IfNotPresent"],
          ...["--profile=restricted", "--target=app", "--", ...command],
        ]);
        await waitUntil(
          { condition: "the ephemeral container has finished", withinMs: 60_000, everyMs: 300 },
          async () => {
            const log = await namespace.kubectl.attempt(["logs", APP, "--container=visitor"]);
            return log.output.includes("inspected") ? true : undefined;
          },
        );
        const debuggedPod = await namespace.kubectl.json<V1Pod>(["get", "pod", APP]);
        expect(debuggedPod.spec?.initContainers).toEqual(pod.spec?.initContainers);
      });
      expect(report).toMatchObject({ outcome: "drained", trigger: DELETION_TRIGGER });
    });
  });
});

describe("kubectl logs and exec without a container name", () => {
  for (const mode of ["native", "classic"]) {
    test(`reach the app in mode ${mode}`, async () => {
      await inNamespace(suite, `default-container-${mode}`, NAMESPACE_OPTIONS, async (namespace) => {
        const annotations = { ...SHORT_DRAIN, "lastcall.dev/mode": mode };
        await createAndDrain(
          namespace,
          barePod(namespace, APP, [appContainer(namespace)], { annotations }),
          async () => {
            const logs = await namespace.kubectl.attempt(["logs", APP]);
            expect([logs.status, logs.stderr]).toEqual([0, ""]);
            expect(logs.output).toContain('"started"');
            const command = ["/usr/local/bin/node", "-p", "process.execPath"];
            const exec = await namespace.kubectl.attempt(["exec", APP, "--", ...command]);
            expect([exec.status, exec.output.trim(), exec.stderr]).toEqual([0, "/usr/local/bin/node", ""]);
          },
        );
      });
    });
  }
});
