import { expect, test } from "vitest";
import { createStore } from "../../../src/api-server/store.ts";
import { type CachedFacts, factsOf } from "../../../src/webhook/cluster/cluster-facts.ts";
import { byNamespace, keepLimitRange } from "../../../src/webhook/cluster/kept-objects.ts";
import { versionIn } from "../../../src/webhook/cluster/server-version.ts";
import { FACTS } from "../server-under-test.ts";

const KNOWN: CachedFacts = {
  apiServerVersion: "v1.30.1",
  lowestKubeletVersion: "v1.29.0",
  nodesAreStale: false,
  limitRanges: undefined,
  namespaceIsUnknown: false,
  oldRuntime: "containerd://1.7.2",
  imagePullError: undefined,
};

test("what is known stands in the facts, beside what never changes", () => {
  expect(factsOf(FACTS, "shop", KNOWN)).toEqual({
    ...FACTS,
    apiServerVersion: "v1.30.1",
    lowestKubeletVersion: "v1.29.0",
    oldRuntime: "containerd://1.7.2",
    limitRanges: [],
    problems: [],
  });
});

test("stale nodes promise nothing, an unknown version leaves the configured one, an unread namespace is told", () => {
  const unsure = { ...KNOWN, nodesAreStale: true, apiServerVersion: undefined, namespaceIsUnknown: true };
  const facts = factsOf(FACTS, "shop", unsure);
  expect(facts.lowestKubeletVersion).toBeUndefined();
  expect(facts.apiServerVersion).toBe(FACTS.apiServerVersion);
  expect(facts.problems).toMatchObject([{ code: "namespace_unknown", where: "namespace shop" }]);
});

test("LimitRanges come by namespace, in the order of their names, and only those about containers and Pods", () => {
  const store = createStore(keepLimitRange);
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
    says: "a usual answer",
    answer: { major: "1", minor: "31+", gitVersion: "v1.31.4-eks-abc" },
    version: "v1.31.4-eks-abc",
  },
  { says: "an answer without gitVersion", answer: { major: "1", minor: "31+" }, version: "1.31+" },
  { says: "an answer with nonsense", answer: { gitVersion: "latest" }, version: undefined },
  { says: "no object", answer: "v1.31", version: undefined },
])("the version in $says is $version", ({ answer, version }) => {
  expect(versionIn(answer)).toBe(version);
});
