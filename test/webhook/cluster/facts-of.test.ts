import { expect, test } from "vitest";
import { createStore } from "../../../src/api-server/store.ts";
import { type CachedFacts, factsOf } from "../../../src/webhook/cluster/cluster-facts.ts";
import { byNamespace, reduceLimitRange } from "../../../src/webhook/cluster/reduced-objects.ts";
import { versionIn } from "../../../src/webhook/cluster/server-version.ts";
import { FACTS } from "../server-under-test.ts";

const CACHED_FACTS: CachedFacts = {
  apiServerVersion: "v1.30.1",
  lowestKubeletVersion: "v1.29.0",
  nodesAreStale: false,
  limitRanges: undefined,
  namespaceIsUnknown: false,
  runtimeWithoutImageVolumes: "containerd://1.7.2",
  imagePullError: undefined,
};

test("the cluster facts for an admission combine the caches with the configuration", () => {
  expect(factsOf(FACTS, "shop", CACHED_FACTS)).toEqual({
    ...FACTS,
    apiServerVersion: "v1.30.1",
    lowestKubeletVersion: "v1.29.0",
    runtimeWithoutImageVolumes: "containerd://1.7.2",
    limitRanges: [],
    problems: [],
  });
});

test("missing cluster facts are replaced by safe defaults, and an unknown namespace is reported", () => {
  const incompleteFacts = {
    ...CACHED_FACTS,
    nodesAreStale: true,
    apiServerVersion: undefined,
    namespaceIsUnknown: true,
  };
  const facts = factsOf(FACTS, "shop", incompleteFacts);
  expect(facts.lowestKubeletVersion).toBeUndefined();
  expect(facts.apiServerVersion).toBe(FACTS.apiServerVersion);
  expect(facts.problems).toMatchObject([{ code: "namespace_unknown", where: "namespace shop" }]);
});

test("the cached LimitRanges are those for containers and Pods, by namespace and sorted by name", () => {
  const store = createStore(reduceLimitRange);
  const put = (namespace: string, name: string, type: string) =>
    store.put({ metadata: { namespace, name }, spec: { limits: [{ type, max: { cpu: 2, memory: "1Gi" } }] } });
  put("shop", "b", "Container");
  put("shop", "a", "Pod");
  put("bar", "c", "PersistentVolumeClaim");
  const ranges = byNamespace(store.entries);
  expect(ranges.get("shop")?.map(({ name }) => name)).toEqual(["a", "b"]);
  expect(ranges.get("shop")?.[0]?.items).toMatchObject([{ type: "Pod", max: { cpu: "2", memory: "1Gi" } }]);
  expect(ranges.has("bar")).toBe(false);
});

test.for([
  {
    title: "the gitVersion of a usual response",
    response: { major: "1", minor: "31+", gitVersion: "v1.31.4-eks-abc" },
    version: "v1.31.4-eks-abc",
  },
  {
    title: "built from major and minor in a response without gitVersion",
    response: { major: "1", minor: "31+" },
    version: "1.31+",
  },
  {
    title: "unknown after a response with an invalid gitVersion",
    response: { gitVersion: "latest" },
    version: undefined,
  },
  { title: "unknown after a string instead of an object", response: "v1.31", version: undefined },
])("the API server's version is $title", ({ response, version }) => {
  expect(versionIn(response)).toBe(version);
});
