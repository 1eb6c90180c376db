import { describe, expect, test } from "vitest";
import { podsIn, withPodAt } from "../../src/kubernetes/pod-template.ts";

const TEMPLATE = { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "app" }] } };
const metadata = { name: "web", namespace: "shop" };

function workload(apiVersion: string, kind: string) {
  return { apiVersion, kind, metadata, spec: { replicas: 2, template: TEMPLATE } };
}

describe("the Pod of a document", () => {
  test.for<[string, string]>([
    ["apps/v1", "Deployment"],
    ["apps/v1", "ReplicaSet"],
    ["apps/v1", "StatefulSet"],
    ["apps/v1", "DaemonSet"],
    ["batch/v1", "Job"],
    ["v1", "ReplicationController"],
    ["extensions/v1beta1", "Deployment"],
  ])("%s %s lies in its template", ([apiVersion, kind]) => {
    const [place] = podsIn(workload(apiVersion, kind));
    expect(place).toMatchObject({ path: ["spec", "template"], pod: TEMPLATE, namespace: "shop", owner: `${kind}/web` });
  });

  test("a CronJob's lies in the template of its job", () => {
    const document = {
      apiVersion: "batch/v1",
      kind: "CronJob",
      metadata,
      spec: { jobTemplate: { spec: { template: TEMPLATE } } },
    };
    expect(podsIn(document)).toMatchObject([{ path: ["spec", "jobTemplate", "spec", "template"], pod: TEMPLATE }]);
  });

  test("a Pod is itself and a PodTemplate holds one", () => {
    const pod = { apiVersion: "v1", kind: "Pod", metadata, spec: {} };
    expect(podsIn(pod)).toMatchObject([{ path: [], pod, owner: "Pod/web" }]);
    expect(podsIn({ apiVersion: "v1", kind: "PodTemplate", metadata, template: TEMPLATE })).toMatchObject([
      { path: ["template"], pod: TEMPLATE },
    ]);
  });

  test("a List has those of its items, a typed list too", () => {
    const list = {
      apiVersion: "v1",
      kind: "List",
      items: [{ kind: "Service", apiVersion: "v1" }, workload("apps/v1", "Deployment")],
    };
    expect(podsIn(list)).toMatchObject([{ path: ["items", 1, "spec", "template"] }]);
    const typed = { apiVersion: "v1", kind: "PodList", items: [{ metadata, spec: {} }] };
    expect(podsIn(typed)).toMatchObject([{ path: ["items", 0], pod: { metadata, spec: {} }, owner: "Pod/web" }]);
  });

  const shaped = (spec: unknown) => ({ apiVersion: "example.com/v1", kind: "Widget", metadata, spec });

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
      "in a template of something else",
      { template: { spec: { template: TEMPLATE } } },
      ["template", "spec", "template"],
    ],
    ["that says it is a Pod", { template: { apiVersion: "v1", kind: "Pod", ...TEMPLATE } }, ["template"]],
  ])("of another group's kind lies %s", ([, spec, path]) => {
    expect(podsIn(shaped(spec)).map((place) => place.path)).toEqual([["spec", ...path]]);
  });

  test.for<[string, unknown]>([
    ["another key", { pod: TEMPLATE }],
    ["further keys beside spec", { template: { ...TEMPLATE, size: 3 } }],
    ["metadata that is no mapping", { template: { ...TEMPLATE, metadata: [] } }],
    ["containers that are none", { template: { spec: { containers: [{}] } } }],
    ["containers that are text", { template: { spec: { containers: ["app"] } } }],
    ["the kind of another object", { template: { ...TEMPLATE, apiVersion: "v1", kind: "Node" } }],
    ["an object of its own around it", { manifests: [workload("apps/v1", "Deployment")] }],
  ])("of another group's kind is not what has %s", ([, spec]) => {
    expect(podsIn(shaped(spec))).toEqual([]);
  });

  test("what the API server wrote about an object is not searched", () => {
    expect(podsIn({ ...shaped({}), status: { template: TEMPLATE } })).toEqual([]);
  });

  test("kinds that Kubernetes does not have in its groups, and things that are no workload, have none", () => {
    for (const document of [
      { apiVersion: "v1", kind: "Service", spec: {} },
      workload("apps/v1", "Rollout"),
      { kind: "Rollout", spec: { template: TEMPLATE } },
      { apiVersion: "apps/v1", kind: "Deployment", spec: { template: "x" } },
      { apiVersion: "v1", kind: "List", items: "x" },
      null,
      [],
      "text",
    ])
      expect(podsIn(document)).toEqual([]);
  });

  test("lists within lists end somewhere", () => {
    let nested: unknown = workload("apps/v1", "Deployment");
    for (let depth = 0; depth < 1_000; depth += 1) nested = { apiVersion: "v1", kind: "List", items: [nested] };
    expect(podsIn(nested)).toEqual([]);
  });
});

test("putting a Pod back changes its place alone", () => {
  const other = { apiVersion: "v1", kind: "Service" };
  const list = { apiVersion: "v1", kind: "List", items: [other, workload("apps/v1", "Deployment")] };
  const [place] = podsIn(list);
  const changed = withPodAt(list, place?.path ?? [], { spec: {} }) as typeof list;
  expect(changed.items[0]).toBe(other);
  expect(changed.items[1]).toMatchObject({ spec: { replicas: 2, template: { spec: {} } } });
  expect(withPodAt(list, place?.path ?? [], place?.pod)).toEqual(list);
});
