/** Tests workflows with Argo's real controller and executor: steps end when their work is done, and steps that serve are drained. */
import type { KubernetesObject, V1Pod } from "@kubernetes/client-node";
import { beforeAll, describe, expect, test } from "vitest";
import { readGuide } from "../../test/guides/manifests.ts";
import { importArgoImages, startArgo, stopArgo } from "../client/argo.ts";
import { type CaseNamespace, inNamespace } from "../client/case-namespace.ts";
import { isInjected } from "../client/create-pods.ts";
import { expectInjectedPods, managerOf, nameOf } from "../client/injected-pods.ts";
import { OPT_IN } from "../client/installation.ts";
import { drainReport, followLog, loggedAtMs, MANAGER } from "../client/pod-log.ts";
import { saveDrain } from "../client/save-drain.ts";
import { imageOf, readSuite } from "../client/suite.ts";
import { stateFolder } from "../cluster/state-folder.ts";
import { waitUntil } from "../host/wait.ts";
import { IMAGES } from "../images/image-table.ts";
import { tagImage } from "../images/import-images.ts";

const suite = readSuite(process.env);
const NAMESPACE = "crawl";
/** The annotation with the step's name on its Pod. */
const NODE_NAME_ANNOTATION = "workflows.argoproj.io/node-name";
const MAX_DELAY_MS = 15_000;

const INDEX_IMAGE = "registry.example/crawl/index:3";
const READER_IMAGE = "registry.example/crawl/reader:3";

type Workflow = KubernetesObject & {
  readonly status?: {
    readonly phase?: string;
    readonly message?: string;
    readonly nodes?: Readonly<Record<string, WorkflowNode>>;
  };
};
type WorkflowNode = {
  readonly displayName: string;
  readonly phase: string;
  readonly outputs?: { readonly parameters?: readonly { readonly name: string; readonly value?: string }[] };
};

beforeAll(async () => {
  await importArgoImages(suite);
  for (const node of suite.nodes) {
    const socket = stateFolder().socketOf(node);
    await tagImage(socket, imageOf(suite, "lastcall-example-app"), INDEX_IMAGE);
    await tagImage(socket, imageOf(suite, "lastcall-example-work"), READER_IMAGE);
  }
}, 1_800_000);

describe("in an Argo workflow", () => {
  test("of the guide, only the step that opts in has a manager, which exits when the step's work is done", async () => {
    await withArgo(async (namespace) => {
      const name = await submitWorkflow(namespace, readGuide("argo-workflows").manifest);
      const indexPod = await podOfStep(namespace, "index");
      expect(managerOf(indexPod).args).toContain("--completes");
      expect(isInjected(await podOfStep(namespace, "read"))).toBe(false);
      expect(await waitForWorkflow(namespace, name)).toMatchObject({ phase: "Succeeded" });
      // Argo itself stops the containers of a daemon step, so no preStop hook of the app runs, and no drain starts.
      await expectTimelyExit(namespace, nameOf(indexPod));
    });
  });

  test("a step with a manager passes its results to the next step, and its Pod completes with its work", async () => {
    await withArgo(async (namespace) => {
      const name = await submitWorkflow(namespace, JSON.stringify(resultsWorkflow(namespace)));
      const { phase, nodes } = await waitForWorkflow(namespace, name);
      expect(phase).toBe("Succeeded");
      const outputs = Object.values(nodes ?? {}).map(({ displayName, outputs: out }) => [
        displayName,
        out?.parameters?.map(({ value }) => value),
      ]);
      expect(outputs).toContainEqual(["make", ["42"]]);
      expect(outputs).toContainEqual(["use", ["42 again"]]);
      const [makePod] = await expectInjectedPods(namespace, "step=make");
      await expectTimelyExit(namespace, makePod === undefined ? "" : nameOf(makePod));
    });
  });

  test("a deletion of the workflow drains the serving step, whose container then gets its stop signal", async () => {
    await withArgo(async (namespace) => {
      const name = await submitWorkflow(namespace, readGuide("argo-workflows").manifest);
      await podOfStep(namespace, "read");
      const indexPod = await podOfStep(namespace, "index");
      const pod = nameOf(indexPod);
      const app = followLog(namespace, pod, "main");
      const manager = followLog(namespace, pod, MANAGER);
      await Promise.all([app.waitFor("started"), manager.waitFor("listening")]);
      const fromMs = Date.now();
      await namespace.kubectl.run(["delete", "workflow", name, "--wait=false"]);
      const report = await drainReport(manager, 90);
      expect(report).toMatchObject({ outcome: "drained" });
      expect(await loggedAtMs(app, "SIGTERM")).toBeGreaterThanOrEqual(fromMs + 5_000);
      await saveDrain(namespace, "argo-workflows", pod);
      await namespace.kubectl.run(["wait", "--for=delete", `pod/${pod}`, "--timeout=60s"]);
    });
  });

  test("shutdown: Terminate stops the serving step immediately, because the manager does not delay the signal of Argo", async () => {
    await withArgo(async (namespace) => {
      const name = await submitWorkflow(namespace, readGuide("argo-workflows").manifest);
      await podOfStep(namespace, "read");
      const pod = nameOf(await podOfStep(namespace, "index"));
      const terminationPatch = `--patch=${JSON.stringify({ spec: { shutdown: "Terminate" } })}`;
      await namespace.kubectl.run(["patch", "workflow", name, "--type=merge", terminationPatch]);
      expect(await waitForWorkflow(namespace, name)).toMatchObject({ phase: "Failed" });
      await expectTimelyExit(namespace, pod);
    });
  });
});

/** Creates an opted-in namespace with Argo. Its label has no effect on Pods of workflows, which run to completion. */
function withArgo(work: (namespace: CaseNamespace) => Promise<void>): Promise<void> {
  return inNamespace(suite, NAMESPACE, { labels: OPT_IN }, async (namespace) => {
    const entrypoints = {
      [INDEX_IMAGE]: IMAGES["lastcall-example-app"].entrypoint,
      [READER_IMAGE]: IMAGES["lastcall-example-work"].entrypoint,
    };
    await startArgo(namespace, entrypoints);
    try {
      await work(namespace);
    } finally {
      const argo = await namespace.kubectl.attempt(["logs", "deployment/workflow-controller"]);
      namespace.saveArtifact("controller.txt", argo.output);
      const workflows = await namespace.kubectl.attempt(["get", "workflows.argoproj.io", "--output=yaml"]);
      namespace.saveArtifact("workflows.yaml", workflows.output);
      await stopArgo(namespace);
    }
  });
}

/** Returns the workflow's name. */
async function submitWorkflow(namespace: CaseNamespace, manifest: string): Promise<string> {
  const output = await namespace.kubectl.run(["create", "--filename=-", "--output=name"], manifest);
  return output.trim().split("/").at(-1) ?? "";
}

/** Returns the Pod of a step, once its containers run. */
function podOfStep(namespace: CaseNamespace, step: string): Promise<V1Pod> {
  return waitUntil({ condition: `the step ${step} runs`, withinMs: 120_000, everyMs: 300 }, async () =>
    (await namespace.pods()).find(
      ({ metadata, status }) =>
        metadata?.annotations?.[NODE_NAME_ANNOTATION]?.endsWith(`.${step}`) === true && status?.phase === "Running",
    ),
  );
}

function waitForWorkflow(namespace: CaseNamespace, name: string): Promise<NonNullable<Workflow["status"]>> {
  return waitUntil({ condition: `workflow ${name} has ended`, withinMs: 180_000, everyMs: 500 }, async () => {
    const { status } = await namespace.kubectl.json<Workflow>(["get", "workflow", name]);
    return ["Succeeded", "Failed", "Error"].includes(status?.phase ?? "") ? status : undefined;
  });
}

/** Expects that the Pod completed, and that its manager exited soon after the Pod's other containers. */
async function expectTimelyExit(namespace: CaseNamespace, name: string): Promise<void> {
  const pod = await waitUntil({ condition: `Pod ${name} has ended`, withinMs: 90_000, everyMs: 500 }, async () => {
    const current = await namespace.kubectl.json<V1Pod>(["get", "pod", name]);
    return ["Succeeded", "Failed"].includes(current.status?.phase ?? "") ? current : undefined;
  });
  const lastExitMs = Math.max(
    ...(pod.status?.containerStatuses ?? []).map(({ state }) => Number(new Date(state?.terminated?.finishedAt ?? 0))),
  );
  const manager = pod.status?.initContainerStatuses?.find((status) => status.name === MANAGER)?.state?.terminated;
  expect(manager?.exitCode).toBe(0);
  const delayMs = Number(new Date(manager?.finishedAt ?? 0)) - lastExitMs;
  namespace.addTimelineLine(`the manager of ${name} ended ${delayMs} ms after the step's containers`);
  expect(delayMs).toBeLessThanOrEqual(MAX_DELAY_MS);
}

/** The first step writes a file that Argo passes to the second step as an argument. */
function resultsWorkflow(namespace: CaseNamespace): unknown {
  const image = imageOf(namespace.suite, "lastcall-test-app");
  const node = "/usr/local/bin/node";
  const volume = { volumes: [{ name: "out", emptyDir: {} }] };
  const container = { image, imagePullPolicy: "IfNotPresent", volumeMounts: [{ name: "out", mountPath: "/out" }] };
  const outputs = { parameters: [{ name: "result", valueFrom: { path: "/out/result" } }] };
  const writeResult = (expression: string) => [node, "-e", `require("fs").writeFileSync("/out/result", ${expression})`];
  const optIn = { labels: { step: "make", "lastcall.dev/inject": "enabled" } };
  return {
    apiVersion: "argoproj.io/v1alpha1",
    kind: "Workflow",
    metadata: { generateName: "results-" },
    spec: {
      entrypoint: "all",
      templates: [
        {
          name: "all",
          steps: [
            [{ name: "make", template: "make" }],
            [
              {
                name: "use",
                template: "use",
                arguments: { parameters: [{ name: "word", value: "{{steps.make.outputs.parameters.result}}" }] },
              },
            ],
          ],
        },
        {
          name: "make",
          metadata: optIn,
          ...volume,
          container: { ...container, command: writeResult("'42'") },
          outputs,
        },
        {
          name: "use",
          ...volume,
          inputs: { parameters: [{ name: "word" }] },
          container: { ...container, command: writeResult("'{{inputs.parameters.word}} again'") },
          outputs,
        },
      ],
    },
  };
}
