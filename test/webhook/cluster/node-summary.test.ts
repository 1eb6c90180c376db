import fc from "fast-check";
import { expect, test } from "vitest";
import { keepNode, lowestKubeletVersion } from "../../../src/webhook/cluster/node-summary.ts";

const linux = (kubeletVersion: string) => ({ os: "linux", kubeletVersion });

test.for([
  { says: "no nodes", nodes: [], lowest: undefined },
  { says: "only Windows nodes", nodes: [{ os: "windows", kubeletVersion: "v1.20.0" }], lowest: undefined },
  { says: "one node", nodes: [linux("v1.31.2")], lowest: "v1.31.2" },
  {
    says: "an old Windows node beside Linux",
    nodes: [{ os: "windows", kubeletVersion: "v1.20.0" }, linux("v1.30.0")],
    lowest: "v1.30.0",
  },
  { says: "minors of one and two digits", nodes: [linux("v1.30.0"), linux("v1.9.9")], lowest: "v1.9.9" },
  {
    says: "versions with suffixes",
    nodes: [linux("v1.30.1-eks-1a2b"), linux("v1.28.5-gke.1")],
    lowest: "v1.28.5-gke.1",
  },
  { says: "a node that has not told its version", nodes: [linux("v1.30.0"), linux("")], lowest: undefined },
  {
    says: "a node that has told nothing",
    nodes: [linux("v1.30.0"), keepNode({ metadata: { name: "new" } })],
    lowest: undefined,
  },
  { says: "a version no one can read", nodes: [linux("v1.30.0"), linux("kubelet")], lowest: undefined },
])("of $says the lowest kubelet is $lowest", ({ nodes, lowest }) => {
  expect(lowestKubeletVersion(nodes)).toBe(lowest);
});

test("the order of nodes does not matter", () => {
  const nodes = fc.array(fc.record({ os: fc.constantFrom("linux", "", "windows"), minor: fc.nat(40) }));
  fc.assert(
    fc.property(nodes, (given) => {
      const read = given.map(({ os, minor }) => ({ os, kubeletVersion: `v1.${minor}.0` }));
      expect(lowestKubeletVersion(read)).toBe(lowestKubeletVersion([...read].reverse()));
    }),
  );
});

test("of a node only the system and the kubelet's version are kept", () => {
  const nodeInfo = { operatingSystem: "linux", kubeletVersion: "v1.33.1", kernelVersion: "6.1" };
  expect(keepNode({ metadata: { name: "n", labels: {} }, status: { nodeInfo, images: [] } })).toEqual({
    os: "linux",
    kubeletVersion: "v1.33.1",
  });
});
