/** Tests the readers of versions, quantities, QoS classes and JSON. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import packageFile from "../../package.json" with { type: "json" };
import { VERSION } from "../../src/contract/version.ts";
import { qosClassOf } from "../../src/kubernetes/qos.ts";
import { parseQuantity } from "../../src/kubernetes/quantity.ts";
import { covers, isSameJson } from "../../src/kubernetes/raw-json.ts";
import { isAtLeast, parseVersion } from "../../src/kubernetes/version.ts";

test.for<[string, string | undefined]>([
  ["1.32", "1.32"],
  ["v1.30.1-eks-1a2b3c4", "1.30"],
  ["1.31+", "1.31"],
  ["v2.0.0", "2.0"],
  [" v1.9", "1.9"],
  ["1", undefined],
  ["v1.x", undefined],
  ["latest", undefined],
  ["", undefined],
])("the Kubernetes version %j is read as %s", ([text, expected]) => {
  const version = parseVersion(text);
  expect(version && `${version.major}.${version.minor}`).toBe(expected);
});

test("the comparison of Kubernetes versions compares the major before the minor version", () => {
  expect(isAtLeast({ major: 2, minor: 0 }, 1, 32)).toBe(true);
  expect(isAtLeast({ major: 1, minor: 9 }, 1, 32)).toBe(false);
});

test.for<[unknown, number | undefined]>([
  ["100m", 0.1],
  ["700m", 0.7],
  ["1", 1],
  [2, 2],
  [0.5, 0.5],
  ["1e3", 1_000],
  ["1.5Gi", 1_610_612_736],
  ["128974848", 128_974_848],
  ["129M", 129_000_000],
  ["5E", 5e18],
  ["100n", 1e-7],
  [".5", 0.5],
  ["", undefined],
  ["Mi", undefined],
  ["1 Gi", undefined],
  ["1Zi", undefined],
  [null, undefined],
  [{}, undefined],
])("the Kubernetes quantity %j is read as %s", ([value, expected]) => {
  expect(parseQuantity(value)).toBe(expected);
});

describe("the QoS class", () => {
  const createPod = (...resources: readonly object[]) => ({
    spec: { containers: resources.map((r, at) => ({ name: `c${at}`, resources: r })) },
  });
  const fullResources = { limits: { cpu: "1", memory: "1Gi" } };

  test.for<[string, object, string]>([
    ["no resources", createPod({}), "BestEffort"],
    ["limits without requests", createPod(fullResources), "Guaranteed"],
    [
      "requests equal to limits in other units",
      createPod({ ...fullResources, requests: { cpu: "1000m", memory: "1024Mi" } }),
      "Guaranteed",
    ],
    ["one container without limits", createPod(fullResources, {}), "Burstable"],
    ["only memory", createPod({ limits: { memory: "1Gi" } }), "Burstable"],
    ["only other resources", createPod({ limits: { "nvidia.com/gpu": "1" } }), "BestEffort"],
    ["requests of zero", createPod({ requests: { cpu: "0" } }), "BestEffort"],
    ["Pod-level resources", { spec: { resources: fullResources, containers: [{ name: "a" }] } }, "Guaranteed"],
  ])("of a Pod with %s equals the class that Kubernetes computes", ([, podWithResources, expected]) => {
    expect(qosClassOf(podWithResources as Record<string, unknown>)).toBe(expected);
  });
});

test("`isSameJson` ignores the order of keys, and `covers` accepts additional keys", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.dictionary(fc.string(), fc.jsonValue()), (value, extra) => {
      const copy: unknown = JSON.parse(JSON.stringify(value));
      expect(isSameJson(value, copy)).toBe(true);
      expect(covers(copy, value)).toBe(true);
      const required = { wanted: value };
      expect(covers({ ...extra, ...required }, required)).toBe(true);
      expect(isSameJson({ ...required, other: 1 }, { other: 1, ...required })).toBe(true);
    }),
  );
  expect(isSameJson([1, 2], [2, 1])).toBe(false);
  expect(isSameJson({ a: 1 }, { b: 1 })).toBe(false);
  expect(isSameJson({ a: undefined }, {})).toBe(false);
  expect(covers([1, 2], [1])).toBe(false);
  expect(covers({}, { a: 1 })).toBe(false);
});

test("the constant VERSION equals the version of package.json", () => {
  expect(VERSION).toBe(packageFile.version);
});
