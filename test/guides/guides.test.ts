/** Tests that each guide's manifest equals the file in examples, and that webhook and command line inject it as documented. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import jsonPatch from "fast-json-patch";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { injectPod } from "../../src/injection/inject.ts";
import { objectAt, type RawObject, textAt, valueAt } from "../../src/kubernetes/raw-json.ts";
import { ANNOTATIONS, FIELDS } from "../../src/policy/fields.ts";
import { reduceNamespace } from "../../src/webhook/cluster/reduced-objects.ts";
import { lastcall } from "../cli/run-lastcall.ts";
import { JSON_HEADERS, reviewText } from "../webhook/pod-review.ts";
import { createServerUnderTest, FACTS } from "../webhook/server-under-test.ts";
import { codeBlocksOf, documentsOf, EXAMPLES, GUIDE_NAMES, picturePath, podsOf, readGuide } from "./manifests.ts";

const TOKEN = "0123456789abcdef0123456789abcdef";
/** Bytes, limited for readers with slow connections. */
const PICTURE_LIMIT_BYTES = 20_000;
const FLAGS = ["--kube-version", FACTS.apiServerVersion, "--kubelet-version", "unknown", "--image", FACTS.managerImage];

/** Guides whose manifests contain only custom resources, which `inject` skips because their controllers create the Pods. */
const GUIDES_WITHOUT_PODS = ["argo-workflows", "envoy-gateway"];

/** Returns the Pod after the webhook's patch. The webhook reads `namespace` as if its watch had delivered this object. */
async function admitPod(pod: unknown, namespace: RawObject | undefined): Promise<unknown> {
  const { app } = createServerUnderTest({
    inject: (request, config, facts) => injectPod(request, config, facts, { newToken: () => TOKEN }),
    namespaceAnnotations: async () => (namespace === undefined ? {} : reduceNamespace(namespace)),
  });
  const payload = reviewText({ object: pod, namespace: textAt(objectAt(namespace, "metadata"), "name") ?? "shop" });
  const answer = await app.inject({ method: "POST", url: "/mutate", headers: JSON_HEADERS, payload });
  const { patch } = answer.json().response;
  const operations = JSON.parse(Buffer.from(patch ?? btoa("[]"), "base64").toString());
  return jsonPatch.applyPatch(structuredClone(pod), operations, true).newDocument;
}

function namespaceIn(manifest: string): RawObject | undefined {
  return documentsOf(manifest).find((document) => document["kind"] === "Namespace");
}

test("every guide has a manifest, and every manifest has a guide", () => {
  expect(EXAMPLES).toEqual(GUIDE_NAMES);
  expect(EXAMPLES.length).toBeGreaterThanOrEqual(8);
});

describe.for(GUIDE_NAMES)("in the guide %s", { timeout: 60_000 }, (name) => {
  const guide = readGuide(name);

  test("the manifest equals the file in examples", () => {
    expect(codeBlocksOf(guide, "yaml")).toEqual([guide.manifest]);
    expect(guide.text).toContain(`](../../examples/${name}.yaml)`);
  });

  test("the manifest is injected, not changed by a second injection, and restored byte for byte", async () => {
    const injected = await lastcall(["inject", ...FLAGS], { "-": guide.manifest });
    expect(injected.status, injected.err).toBe(0);
    expect(injected.out === guide.manifest, injected.err).toBe(GUIDES_WITHOUT_PODS.includes(name));
    const injectedAgain = await lastcall(["inject", ...FLAGS], { "-": injected.out });
    expect(injectedAgain).toMatchObject({ status: 0, out: injected.out });
    const restored = await lastcall(["uninject"], { "-": injected.out });
    expect(restored.out).toBe(guide.manifest);
  });

  test("the manifest's Pods are injected equally by the webhook and the command line, and are not changed by a second review", async () => {
    const namespace = namespaceIn(guide.manifest);
    const { out } = await lastcall(["inject", ...FLAGS], { "-": guide.manifest }, TOKEN);
    const after = podsOf(out);
    const admittedPods = await Promise.all(podsOf(guide.manifest).map(({ pod }) => admitPod(pod, namespace)));
    expect(admittedPods).toEqual(after.map(({ pod }) => pod));
    expect(await Promise.all(admittedPods.map((pod) => admitPod(pod, namespace)))).toEqual(admittedPods);
  });

  test("the described shutdown equals the output of lastcall explain", async () => {
    const timelines = codeBlocksOf(guide, "text");
    if (timelines.length === 0) {
      expect(["argo-workflows", "envoy-gateway", "rabbitmq"]).toContain(name);
      return;
    }
    const { out } = await lastcall(["explain"], { "-": guide.manifest });
    for (const timeline of timelines) expect(out).toContain(timeline);
  });

  test("a picture shows a real drain", () => {
    expect(guide.text).toContain(`](${name}.svg)`);
    const picture = readFileSync(picturePath(name), "utf8");
    expect(picture.length).toBeLessThanOrEqual(PICTURE_LIMIT_BYTES);
    expect(picture).toMatch(/^<svg .*aria-label="Drain of Pod \S+\/\S+".*<\/svg>\n$/s);
    // A picture must not run scripts or load external content.
    expect(picture).not.toMatch(/<(script|image|foreignObject)|href=/);
  });

  test("every annotation exists", () => {
    const mentionedSettings = [...guide.text.matchAll(/lastcall\.dev\/([a-z-]+)/g)].map((match) => match[1]);
    const settingNames = FIELDS.map((field) => ANNOTATIONS[field].name);
    for (const annotation of mentionedSettings) expect(settingNames).toContain(annotation);
  });
});

/** Returns the Pod's manager container as JSON; `""` without one. */
function managerOf(pod: unknown): string {
  const spec = objectAt(objectAt({ pod }, "pod"), "spec");
  return JSON.stringify([valueAt(spec, "initContainers"), valueAt(spec, "containers")].flat().find(isManager) ?? "");
}

function isManager(container: unknown): boolean {
  return textAt(objectAt({ container }, "container"), "name") === "lastcall";
}

test("a Pod of Envoy Gateway with the guide's EnvoyProxy settings waits for its Envoy's drain", async () => {
  const managedInput = join(import.meta.dirname, "../golden/envoy-gateway-managed/input.yaml");
  const pod = parse(readFileSync(managedInput, "utf8")) as { metadata: { labels: object } };
  const [proxy] = documentsOf(readGuide("envoy-gateway").manifest);
  const path = ["spec", "provider", "kubernetes", "envoyDeployment", "pod"];
  const podSettings = path.reduce<RawObject | undefined>((part, key) => objectAt(part, key), proxy);
  const labels = { ...pod.metadata.labels, ...objectAt(podSettings, "labels") };
  const configuredPod = {
    ...pod,
    metadata: { ...pod.metadata, labels, annotations: objectAt(podSettings, "annotations") },
  };
  const manager = managerOf(await admitPod(configuredPod, undefined));
  expect(manager).toContain("--hooks=envoy:app,shutdown-manager:app");
  expect(manager).toContain("--driver-url=http://127.0.0.1:19000");
});

test("only Pods of the workflow step that opts in get a manager, which does not prevent completion", async () => {
  const [workflow] = documentsOf(readGuide("argo-workflows").manifest);
  const templates = valueAt(objectAt(workflow, "spec"), "templates") as readonly RawObject[];
  const managers: Record<string, string> = {};
  for (const template of templates.filter((candidate) => objectAt(candidate, "container") !== undefined)) {
    // Argo's controller adds an executor beside the step's own container.
    const containers = [
      { name: "wait", image: "argoexec:1" },
      { name: "main", ...objectAt(template, "container") },
    ];
    const pod = { metadata: objectAt(template, "metadata") ?? {}, spec: { restartPolicy: "Never", containers } };
    managers[textAt(template, "name") ?? ""] = managerOf(await admitPod(pod, undefined));
  }
  expect(Object.keys(managers)).toEqual(["index", "read"]);
  expect(managers["index"]).toContain('"--completes"');
  expect(managers["read"]).toBe('""');
});

test("only the Job that opts in gets a manager", async () => {
  const { out } = await lastcall(["inject", ...FLAGS], { "-": readGuide("jobs").manifest });
  const managers = podsOf(out).map(({ owner, pod }) => [owner, managerOf(pod) !== '""']);
  expect(managers).toEqual([
    ["Job/report", false],
    ["Job/import", true],
  ]);
});

test.for([
  { name: "istio", annotation: "traffic.sidecar.istio.io/excludeInboundPorts", value: "17890" },
  { name: "linkerd", annotation: "config.linkerd.io/skip-inbound-ports", value: "4567,4568,17890" },
])("Pods of the guide for $name exclude the manager's port before the mesh's injector runs", async (guideCase) => {
  const { manifest } = readGuide(guideCase.name);
  const [{ pod } = { pod: {} }] = podsOf(manifest);
  const after = (await admitPod(pod, namespaceIn(manifest))) as RawObject;
  const annotations = objectAt(objectAt(after, "metadata"), "annotations");
  expect(annotations).toMatchObject({ [guideCase.annotation]: guideCase.value });
});
