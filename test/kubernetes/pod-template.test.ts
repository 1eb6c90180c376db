import { describe, expect, test } from "vitest";
import { podsIn, withPodAt } from "../../src/kubernetes/pod-template.ts";

const TEMPLATE = { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "app" }] } };
const metadata = { name: "web", namespace: "shop" };

function createWorkload(apiVersion: string, kind: string) {
  return { apiVersion, kind, metadata, spec: { replicas: 2, template: TEMPLATE } };
}

describe("the Pod template of a document", () => {
  test.for<[string, string]>([
    ["apps/v1", "Deployment"],
    ["apps/v1", "ReplicaSet"],
    ["apps/v1", "StatefulSet"],
    ["apps/v1", "DaemonSet"],
    ["batch/v1", "Job"],
    ["v1", "ReplicationController"],
    ["extensions/v1beta1", "Deployment"],
  ])("of kind %s %s is read from `spec.template`", ([apiVersion, kind]) => {
    const [place] = podsIn(createWorkload(apiVersion, kind));
    expect(place).toMatchObject({ path: ["spec", "template"], pod: TEMPLATE, namespace: "shop", owner: `${kind}/web` });
  });

  test("of a CronJob is read from `spec.jobTemplate`", () => {
    const document = {
      apiVersion: "batch/v1",
      kind: "CronJob",
      metadata,
      spec: { jobTemplate: { spec: { template: TEMPLATE } } },
    };
    expect(podsIn(document)).toMatchObject([{ path: ["spec", "jobTemplate", "spec", "template"], pod: TEMPLATE }]);
  });

  test("of a Pod is the Pod itself, and of a PodTemplate the field `template`", () => {
    const pod = { apiVersion: "v1", kind: "Pod", metadata, spec: {} };
    expect(podsIn(pod)).toMatchObject([{ path: [], pod, owner: "Pod/web" }]);
    expect(podsIn({ apiVersion: "v1", kind: "PodTemplate", metadata, template: TEMPLATE })).toMatchObject([
      { path: ["template"], pod: TEMPLATE },
    ]);
  });

  test("is found in each item of a List or of a typed list such as PodList", () => {
    const list = {
      apiVersion: "v1",
      kind: "List",
      items: [{ kind: "Service", apiVersion: "v1" }, createWorkload("apps/v1", "Deployment")],
    };
    expect(podsIn(list)).toMatchObject([{ path: ["items", 1, "spec", "template"] }]);
    const podList = { apiVersion: "v1", kind: "PodList", items: [{ metadata, spec: {} }] };
    expect(podsIn(podList)).toMatchObject([{ path: ["items", 0], pod: { metadata, spec: {} }, owner: "Pod/web" }]);
  });

  const createWidget = (spec: unknown) => ({ apiVersion: "example.com/v1", kind: "Widget", metadata, spec });

  test.for<[string, unknown, readonly (string | number)[]]>([
    ["under template", { template: TEMPLATE }, ["template"]],
    ["under a key that ends with Template", { podTemplate: TEMPLATE }, ["podTemplate"]],
    ["in an item of a list", { jobs: [{}, { template: TEMPLATE }] }, ["jobs", 1, "template"]],
    [
      "in a mapping with any keys",
      { replicas: { Master: { template: TEMPLATE } } },
      ["replicas", "Master", "template"],
    ],
    [
      "in a template of another object",
      { template: { spec: { template: TEMPLATE } } },
      ["template", "spec", "template"],
    ],
    ["with kind: Pod and apiVersion: v1", { template: { apiVersion: "v1", kind: "Pod", ...TEMPLATE } }, ["template"]],
  ])("of a custom kind is found %s", ([, spec, path]) => {
    expect(podsIn(createWidget(spec)).map((place) => place.path)).toEqual([["spec", ...path]]);
  });

  test.for<[string, unknown]>([
    ["another key", { pod: TEMPLATE }],
    ["further keys beside spec", { template: { ...TEMPLATE, size: 3 } }],
    ["metadata that is not a mapping", { template: { ...TEMPLATE, metadata: [] } }],
    ["containers without name and image", { template: { spec: { containers: [{}] } } }],
    ["containers that are strings", { template: { spec: { containers: ["app"] } } }],
    ["the kind of another object", { template: { ...TEMPLATE, apiVersion: "v1", kind: "Node" } }],
    ["a containing object with its own kind", { manifests: [createWorkload("apps/v1", "Deployment")] }],
  ])("of a custom kind is not found with %s", ([, spec]) => {
    expect(podsIn(createWidget(spec))).toEqual([]);
  });

  test("is not searched in the field `status`", () => {
    expect(podsIn({ ...createWidget({}), status: { template: TEMPLATE } })).toEqual([]);
  });

  test("is not found in unknown kinds of Kubernetes' API groups or in other documents", () => {
    for (const document of [
      { apiVersion: "v1", kind: "Service", spec: {} },
      createWorkload("apps/v1", "Rollout"),
      { kind: "Rollout", spec: { template: TEMPLATE } },
      { apiVersion: "apps/v1", kind: "Deployment", spec: { template: "x" } },
      { apiVersion: "v1", kind: "List", items: "x" },
      null,
      [],
      "text",
    ])
      expect(podsIn(document)).toEqual([]);
  });

  test("is not searched in deeply nested Lists", () => {
    let nestedList: unknown = createWorkload("apps/v1", "Deployment");
    for (let depth = 0; depth < 1_000; depth += 1) nestedList = { apiVersion: "v1", kind: "List", items: [nestedList] };
    expect(podsIn(nestedList)).toEqual([]);
  });
});

test("withPodAt replaces only the Pod in its document", () => {
  const other = { apiVersion: "v1", kind: "Service" };
  const list = { apiVersion: "v1", kind: "List", items: [other, createWorkload("apps/v1", "Deployment")] };
  const [place] = podsIn(list);
  const changedList = withPodAt(list, place?.path ?? [], { spec: {} }) as typeof list;
  expect(changedList.items[0]).toBe(other);
  expect(changedList.items[1]).toMatchObject({ spec: { replicas: 2, template: { spec: {} } } });
  expect(withPodAt(list, place?.path ?? [], place?.pod)).toEqual(list);
});
