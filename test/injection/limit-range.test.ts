import fc from "fast-check";
import { expect, test } from "vitest";
import { injectPod } from "../../src/injection/inject.ts";
import { readLimitRange } from "../../src/kubernetes/limit-range.ts";
import { containersOf, initContainersOf } from "../../src/kubernetes/pod.ts";
import { qosClassOf } from "../../src/kubernetes/qos.ts";
import { parseQuantity } from "../../src/kubernetes/quantity.ts";
import { objectAt, type RawObject, valueAt } from "../../src/kubernetes/raw-json.ts";
import { DEFAULT_CONFIG } from "../../src/policy/cluster-config.ts";
import {
  type Amounts,
  applyDefaults,
  type OracleContainer,
  type OracleItem,
  refusalsOf,
} from "./limit-range-oracle.ts";

const UNIT = { cpu: 0.001, memory: 2 ** 20 } as const;

const optionalInteger = (minimum: number, maximum: number) =>
  fc.option(fc.integer({ min: minimum, max: maximum }), { nil: undefined });

/** Amounts in the order that the API server requires in a LimitRange. */
const bounds = fc
  .tuple(
    optionalInteger(1, 50),
    optionalInteger(1, 300),
    optionalInteger(1, 300),
    optionalInteger(10, 600),
    optionalInteger(1, 6),
  )
  .map(([min, defaultRequest, limit, max, ratio]) => {
    const minimum = min ?? 1;
    const maximum = Math.max(minimum, max ?? 1_000);
    const clamp = (value: number) => Math.min(maximum, Math.max(minimum, value));
    // The API server sets these defaults when it stores a LimitRange.
    const storedLimit = limit === undefined ? (max === undefined ? undefined : maximum) : clamp(limit);
    const request = defaultRequest === undefined ? (storedLimit ?? min) : clamp(defaultRequest);
    return {
      min,
      max: max === undefined ? undefined : maximum,
      limit: storedLimit,
      request: request === undefined || storedLimit === undefined ? request : Math.min(request, storedLimit),
      ratio,
    };
  });

const itemOfType = (type: "Container" | "Pod"): fc.Arbitrary<OracleItem> =>
  fc.record({ cpu: fc.option(bounds), memory: fc.option(bounds) }).map((bounds) => {
    const amountsOf = (key: "min" | "max" | "limit" | "request" | "ratio"): Amounts => {
      const cpu = bounds.cpu?.[key];
      const memory = bounds.memory?.[key];
      return { ...(cpu === undefined ? {} : { cpu }), ...(memory === undefined ? {} : { memory }) };
    };
    const isPod = type === "Pod";
    const scale = (amounts: Amounts): Amounts =>
      Object.fromEntries(Object.entries(amounts).map(([name, value]) => [name, value * 4]));
    return {
      type,
      min: isPod ? {} : amountsOf("min"),
      max: isPod ? scale(amountsOf("max")) : amountsOf("max"),
      default: isPod ? {} : amountsOf("limit"),
      defaultRequest: isPod ? {} : amountsOf("request"),
      ratio: amountsOf("ratio"),
    };
  });

const container: fc.Arbitrary<OracleContainer> = fc
  .record({
    cpu: fc.option(fc.tuple(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 0, max: 200 }))),
    memory: fc.option(fc.tuple(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 0, max: 200 }))),
    hasLimits: fc.boolean(),
  })
  .map(({ cpu, memory, hasLimits }) => ({
    requests: { ...(cpu === null ? {} : { cpu: cpu[0] }), ...(memory === null ? {} : { memory: memory[0] }) },
    limits: hasLimits
      ? {
          ...(cpu === null ? {} : { cpu: cpu[0] + cpu[1] }),
          ...(memory === null ? {} : { memory: memory[0] + memory[1] }),
        }
      : {},
  }));

const textOf = (amounts: Amounts) => ({
  ...(amounts.cpu === undefined ? {} : { cpu: `${amounts.cpu}m` }),
  ...(amounts.memory === undefined ? {} : { memory: `${amounts.memory}Mi` }),
});

function rangeOf(name: string, items: readonly OracleItem[]): RawObject {
  const limits = items.map(({ type, ratio, ...item }) => ({
    type,
    min: textOf(item.min),
    max: textOf(item.max),
    default: textOf(item.default),
    defaultRequest: textOf(item.defaultRequest),
    maxLimitRequestRatio: Object.fromEntries(Object.entries(ratio).map(([key, value]) => [key, String(value)])),
  }));
  return { metadata: { name }, spec: { limits } };
}

function podOf(containers: readonly OracleContainer[]): RawObject {
  const podContainers = containers.map(({ requests, limits }, at) => ({
    name: `c${at}`,
    image: "a",
    resources: { requests: textOf(requests), limits: textOf(limits) },
  }));
  return { metadata: { name: "web-0" }, spec: { containers: podContainers } };
}

function resourcesOf(from: RawObject): OracleContainer {
  const amounts = (list: string): Amounts => {
    const read = (name: "cpu" | "memory") => {
      const value = parseQuantity(valueAt(objectAt(objectAt(from, "resources"), list), name));
      return value === undefined ? {} : { [name]: Math.round((value / UNIT[name]) * 1e6) / 1e6 };
    };
    return { ...read("cpu"), ...read("memory") };
  };
  return { requests: amounts("requests"), limits: amounts("limits") };
}

function inject(pod: RawObject, ranges: readonly RawObject[]) {
  const facts = {
    apiServerVersion: "1.34",
    lowestKubeletVersion: undefined,
    managerImage: "m:1",
    systemNamespaces: [],
    limitRanges: ranges.map(readLimitRange),
  };
  const request = { pod, namespace: "shop", optIn: "all", namespaceAnnotations: {}, overrides: [] } as const;
  return injectPod(request, DEFAULT_CONFIG, facts, { newToken: () => "0".repeat(32) });
}

test("a Pod that any LimitRanges admit is also admitted with the manager in the same QoS class, or is skipped", {
  timeout: 180_000,
}, () => {
  const counts = { patched: 0, changed: 0, conflict: 0 };
  const containers = fc.array(container, { minLength: 1, maxLength: 3 });
  const ranges = fc.array(fc.tuple(itemOfType("Container"), fc.option(itemOfType("Pod"))), {
    minLength: 1,
    maxLength: 2,
  });
  fc.assert(
    fc.property(containers, ranges, (generatedContainers, itemPairs) => {
      const itemLists = itemPairs.map(([first, second]) => (second === null ? [first] : [first, second]));
      const items = itemLists.flat();
      // The API server applies defaults before it calls webhooks.
      const podContainers = generatedContainers.map((one) => applyDefaults(one, items));
      fc.pre(refusalsOf(podContainers, items).length === 0);
      const pod = podOf(podContainers);
      const outcome = inject(
        pod,
        itemLists.map((list, at) => rangeOf(`r${at}`, list)),
      );
      if (outcome.kind !== "patched") {
        expect(outcome).toMatchObject({ kind: "unchanged", reason: "limit_range_conflict" });
        expect(outcome.explanation.problems.map(({ code }) => code)).toEqual(["limit_range"]);
        counts.conflict += 1;
        return;
      }
      const injectedPod = outcome.pod as RawObject;
      const injectedContainers = [...initContainersOf(injectedPod), ...containersOf(injectedPod)].map(resourcesOf);
      expect(
        refusalsOf(
          injectedContainers.map((one) => applyDefaults(one, items)),
          items,
        ),
      ).toEqual([]);
      expect(qosClassOf(injectedPod)).toBe(qosClassOf(pod));
      counts.patched += 1;
      const withoutRanges = inject(pod, []);
      if (JSON.stringify(withoutRanges.kind === "patched" ? withoutRanges.pod : null) !== JSON.stringify(injectedPod))
        counts.changed += 1;
    }),
    { numRuns: 1_000 },
  );
  // The test requires that each case occurs.
  expect(counts.patched).toBeGreaterThan(300);
  expect(counts.changed).toBeGreaterThan(100);
  expect(counts.conflict).toBeGreaterThan(0);
});

test("a request of the manager that the LimitRange's ratio raises stays within the Pod's maximum", () => {
  const pod = podOf([
    { requests: { cpu: 1, memory: 1 }, limits: { cpu: 1, memory: 12 } },
    { requests: { cpu: 1, memory: 24 }, limits: {} },
  ]);
  const unbounded = { min: {}, default: {}, defaultRequest: {} };
  const createRange = (max: number) =>
    rangeOf("small", [{ type: "Pod", ...unbounded, max: { memory: max }, ratio: { memory: 1 } }]);
  const memoryOf = (outcome: ReturnType<typeof inject>) => {
    const [manager = {}] = outcome.kind === "patched" ? initContainersOf(outcome.pod as RawObject) : [];
    const { requests, limits } = resourcesOf(manager);
    return [requests.memory, limits.memory];
  };
  expect(memoryOf(inject(pod, [createRange(41)]))).toEqual([16, 16]);
  expect(memoryOf(inject(pod, [createRange(40)]))).toEqual([3, 16]);
  expect(memoryOf(inject(pod, [createRange(28)]))).toEqual([3, 16]);
  // The API server refuses a ratio below 1, but a file for the command line may contain such a ratio.
  const unsatisfiableRange = rangeOf("small", [
    { type: "Pod", ...unbounded, max: { memory: 40 }, ratio: { memory: 0.5 } },
  ]);
  expect(inject(pod, [unsatisfiableRange])).toMatchObject({ reason: "limit_range_conflict" });
});

test.for([
  ["does not request resources", { cpu: "100m", memory: "64Mi" }],
  ["requests only memory", { cpu: "100m", memory: "128Mi" }],
] as const)("a LimitRange default for a manager that %s counts against the pod-level resources", ([, podAmounts]) => {
  const resources = { requests: { cpu: "100m", memory: "64Mi" }, limits: { cpu: "100m", memory: "64Mi" } };
  const spec = {
    resources: { requests: podAmounts, limits: podAmounts },
    containers: [{ name: "app", image: "a", resources }],
  };
  const pod = { metadata: { name: "web-0" }, spec };
  const createDefaultRange = (amounts: Amounts): RawObject => {
    const unbounded = { min: {}, max: {}, ratio: {} };
    return rangeOf("usual", [{ type: "Container", ...unbounded, default: amounts, defaultRequest: amounts }]);
  };
  expect(inject(pod, [createDefaultRange({ cpu: 50, memory: 512 })])).toMatchObject({ reason: "limit_range_conflict" });
  expect(inject(pod, [])).toMatchObject({ kind: "patched" });
});

test("a LimitRange default that exceeds the pod-level resources is replaced by small amounts for the manager", () => {
  const resources = { requests: { cpu: "100m", memory: "64Mi" }, limits: { cpu: "200m", memory: "64Mi" } };
  const podResources = { requests: { cpu: "200m", memory: "128Mi" }, limits: { cpu: "400m", memory: "128Mi" } };
  const pod = {
    metadata: { name: "web-0" },
    spec: { resources: podResources, containers: [{ name: "app", image: "a", resources }] },
  };
  const defaultAmounts = { cpu: 500, memory: 100 };
  const range = rangeOf("usual", [
    { type: "Container", min: {}, max: {}, ratio: {}, default: defaultAmounts, defaultRequest: defaultAmounts },
  ]);
  const outcome = inject(pod, [range]);
  const [manager = {}] = outcome.kind === "patched" ? initContainersOf(outcome.pod as RawObject) : [];
  expect(resourcesOf(manager)).toEqual({ requests: { cpu: 1, memory: 2 }, limits: { cpu: 10, memory: 16 } });
});
