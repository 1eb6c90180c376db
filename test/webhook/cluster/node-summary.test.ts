import fc from "fast-check";
import { expect, test } from "vitest";
import {
  findRuntimeWithoutImageVolumes,
  lowestKubeletVersion,
  reduceNode,
} from "../../../src/webhook/cluster/cluster-facts.ts";

const NEW_RUNTIME = "containerd://2.1.4";
const createLinuxNode = (kubeletVersion: string) => ({ os: "linux", kubeletVersion, runtime: NEW_RUNTIME });
const WINDOWS_NODE = { os: "windows", kubeletVersion: "v1.20.0", runtime: "containerd://1.6.0" };

test.for([
  { title: "unknown without nodes", nodes: [], lowest: undefined },
  { title: "unknown with only Windows nodes", nodes: [WINDOWS_NODE], lowest: undefined },
  { title: "v1.31.2 with one node", nodes: [createLinuxNode("v1.31.2")], lowest: "v1.31.2" },
  {
    title: "that of the Linux node beside an old Windows node",
    nodes: [WINDOWS_NODE, createLinuxNode("v1.30.0")],
    lowest: "v1.30.0",
  },
  {
    title: "v1.9.9 with the minor versions 30 and 9",
    nodes: [createLinuxNode("v1.30.0"), createLinuxNode("v1.9.9")],
    lowest: "v1.9.9",
  },
  {
    title: "v1.28.5-gke.1 with suffixes in the versions",
    nodes: [createLinuxNode("v1.30.1-eks-1a2b"), createLinuxNode("v1.28.5-gke.1")],
    lowest: "v1.28.5-gke.1",
  },
  {
    title: "unknown with a node without a version",
    nodes: [createLinuxNode("v1.30.0"), createLinuxNode("")],
    lowest: undefined,
  },
  {
    title: "unknown with a node with an empty status",
    nodes: [createLinuxNode("v1.30.0"), reduceNode({ metadata: { name: "new" } })],
    lowest: undefined,
  },
  {
    title: "unknown with an unreadable version",
    nodes: [createLinuxNode("v1.30.0"), createLinuxNode("kubelet")],
    lowest: undefined,
  },
])("the lowest kubelet version of the nodes is $title", ({ nodes, lowest }) => {
  expect(lowestKubeletVersion(nodes)).toBe(lowest);
});

test("the summary of the nodes does not depend on their order", () => {
  const nodes = fc.array(fc.record({ os: fc.constantFrom("linux", "", "windows"), minor: fc.nat(40) }));
  fc.assert(
    fc.property(nodes, (generated) => {
      const generatedNodes = generated.map(({ os, minor }) => ({
        os,
        kubeletVersion: `v1.${minor}.0`,
        runtime: NEW_RUNTIME,
      }));
      expect(lowestKubeletVersion(generatedNodes)).toBe(lowestKubeletVersion([...generatedNodes].reverse()));
    }),
  );
});

test("the node cache stores only the OS, the kubelet version and the container runtime", () => {
  const nodeInfo = { operatingSystem: "linux", kubeletVersion: "v1.33.1", kernelVersion: "6.1" };
  expect(reduceNode({ metadata: { name: "n", labels: {} }, status: { nodeInfo, images: [] } })).toEqual({
    os: "linux",
    kubeletVersion: "v1.33.1",
    runtime: "",
  });
});

test.for([
  { title: "is not reported for containerd 2.1", runtime: "containerd://2.1.0", old: undefined },
  { title: "is not reported for a later containerd", runtime: "containerd://3.0.0-rc.1", old: undefined },
  { title: "is reported for containerd 2.0", runtime: "containerd://2.0.5", old: "containerd://2.0.5" },
  { title: "is not reported for CRI-O 1.33", runtime: "cri-o://1.33.2", old: undefined },
  { title: "is reported for CRI-O 1.32", runtime: "cri-o://1.32.9", old: "cri-o://1.32.9" },
  { title: "is reported for an unknown runtime", runtime: "other://9.9.9", old: "other://9.9.9" },
  { title: "is reported as `none named` for a node without a runtime", runtime: "", old: "none named" },
])("a container runtime that is too old for image volumes $title", ({ runtime, old }) => {
  const nodes = [createLinuxNode("v1.36.0"), { ...createLinuxNode("v1.36.0"), runtime }, WINDOWS_NODE];
  expect(findRuntimeWithoutImageVolumes(nodes)).toBe(old);
});

test("the node cache reads the container runtime of a node", () => {
  expect(reduceNode({ status: { nodeInfo: { containerRuntimeVersion: NEW_RUNTIME } } }).runtime).toBe(NEW_RUNTIME);
});
