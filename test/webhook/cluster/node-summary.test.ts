import fc from "fast-check";
import { expect, test } from "vitest";
import { keepNode, lowestKubeletVersion, oldRuntime } from "../../../src/webhook/cluster/cluster-facts.ts";

const NEW = "containerd://2.1.4";
const linux = (kubeletVersion: string) => ({ os: "linux", kubeletVersion, runtime: NEW });
const WINDOWS = { os: "windows", kubeletVersion: "v1.20.0", runtime: "containerd://1.6.0" };

test.for([
  { says: "no nodes", nodes: [], lowest: undefined },
  { says: "only Windows nodes", nodes: [WINDOWS], lowest: undefined },
  { says: "one node", nodes: [linux("v1.31.2")], lowest: "v1.31.2" },
  {
    says: "an old Windows node beside Linux",
    nodes: [WINDOWS, linux("v1.30.0")],
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
      const read = given.map(({ os, minor }) => ({ os, kubeletVersion: `v1.${minor}.0`, runtime: NEW }));
      expect(lowestKubeletVersion(read)).toBe(lowestKubeletVersion([...read].reverse()));
    }),
  );
});

test("of a node only the system, the kubelet's version and the runtime are kept", () => {
  const nodeInfo = { operatingSystem: "linux", kubeletVersion: "v1.33.1", kernelVersion: "6.1" };
  expect(keepNode({ metadata: { name: "n", labels: {} }, status: { nodeInfo, images: [] } })).toEqual({
    os: "linux",
    kubeletVersion: "v1.33.1",
    runtime: "",
  });
});

test.for([
  { says: "containerd of 2.1", runtime: "containerd://2.1.0", old: undefined },
  { says: "a later containerd", runtime: "containerd://3.0.0-rc.1", old: undefined },
  { says: "containerd of 2.0", runtime: "containerd://2.0.5", old: "containerd://2.0.5" },
  { says: "CRI-O of 1.33", runtime: "cri-o://1.33.2", old: undefined },
  { says: "CRI-O of 1.32", runtime: "cri-o://1.32.9", old: "cri-o://1.32.9" },
  { says: "a runtime no one knows", runtime: "other://9.9.9", old: "other://9.9.9" },
  { says: "a node that has not told", runtime: "", old: "none named" },
])("beside nodes that mount images, the old runtime of $says is $old", ({ runtime, old }) => {
  const nodes = [linux("v1.36.0"), { ...linux("v1.36.0"), runtime }, WINDOWS];
  expect(oldRuntime(nodes)).toBe(old);
});

test("a node says its runtime", () => {
  expect(keepNode({ status: { nodeInfo: { containerRuntimeVersion: NEW } } }).runtime).toBe(NEW);
});
