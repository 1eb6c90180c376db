/** Writes the settings of the container runtime, kubelet and proxy of one node, and defines their flags. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findCniFolder } from "../host/requirements.ts";
import { type ClusterNode, DNS_SERVICE_ADDRESS, POD_NETWORK, PODS_CGROUP, podNetworkOf } from "./addresses.ts";
import type { Component } from "./component.ts";
import type { ProgramFolders } from "./control-plane.ts";
import type { ProxyMode } from "./record.ts";
import type { StateFolder } from "./state-folder.ts";

export const PAUSE_IMAGE = "localhost/pause:1";

export type NodePrograms = { readonly runtime: Component; readonly agents: readonly Component[] };

/** Writes the node's settings and returns its programs: the container runtime, and the agents for after the import of the pause image. */
export function prepareNode(
  node: ClusterNode,
  programs: ProgramFolders,
  state: StateFolder,
  proxyMode: ProxyMode,
): NodePrograms {
  const folder = join(state.root, node.name);
  const pathOf = (name: string) => join(folder, name);
  for (const name of ["cni", "kubelet", "pod-logs"]) mkdirSync(pathOf(name), { recursive: true });
  mkdirSync(state.staticPodsOf(node.name), { recursive: true });
  writeFileSync(pathOf("cni/10-pods.conflist"), JSON.stringify(podNetwork(node)));
  writeFileSync(pathOf("containerd.toml"), containerdSettings(node, programs, state));
  writeFileSync(pathOf("kubelet.json"), JSON.stringify(kubeletSettings(node, state)));
  writeFileSync(pathOf("kube-proxy.json"), JSON.stringify(proxySettings(node, state, proxyMode)));
  const component = (name: string, program: string, flags: readonly string[]): Component => ({
    name: `${name}-${node.name}`,
    node: node.name,
    program,
    flags,
  });
  return {
    runtime: component("containerd", join(programs.containerd, "containerd"), ["--config", pathOf("containerd.toml")]),
    agents: [
      { ...component("kubelet", join(programs.kubernetes, "kubelet"), kubeletFlags(node, state)), isRestarted: true },
      component("kube-proxy", join(programs.kubernetes, "kube-proxy"), [`--config=${pathOf("kube-proxy.json")}`]),
    ],
  };
}

function kubeletFlags(node: ClusterNode, state: StateFolder): readonly string[] {
  const pathOf = (name: string) => join(state.root, node.name, name);
  return [
    `--config=${pathOf("kubelet.json")}`,
    `--kubeconfig=${join(state.pkiFolder, `${node.name}.kubeconfig`)}`,
    `--hostname-override=${node.name}`,
    `--node-ip=${node.address}`,
    `--root-dir=${pathOf("kubelet")}`,
    `--cert-dir=${pathOf("kubelet/pki")}`,
    "--v=2",
  ];
}

/** Uses routed point-to-point links: over a bridge, responses between Pods of one node would bypass the address translation. */
function podNetwork(node: ClusterNode): unknown {
  const ipam = {
    type: "host-local",
    ranges: [[{ subnet: podNetworkOf(node) }]],
    routes: [{ dst: "0.0.0.0/0" }],
    dataDir: `/run/cni-${node.name}`,
  };
  return {
    cniVersion: "1.0.0",
    name: "pods",
    plugins: [
      { type: "ptp", ipMasq: false, ipam },
      { type: "portmap", capabilities: { portMappings: true } },
    ],
  };
}

/** Uses version 2 of the configuration format, which containerd 2 converts. */
function containerdSettings(node: ClusterNode, programs: ProgramFolders, state: StateFolder): string {
  const runFolder = `/run/containerd-${node.name}`;
  const criPlugin = `plugins."io.containerd.grpc.v1.cri"`;
  return `version = 2
root = "${join(state.root, node.name, "containerd")}"
state = "${runFolder}"
[grpc]
  address = "${state.socketOf(node.name)}"
[ttrpc]
  address = "${runFolder}/ttrpc.sock"
[${criPlugin}]
  sandbox_image = "${PAUSE_IMAGE}"
  disable_apparmor = true
  # Otherwise, without the right to lower oom_score_adj, the sandbox of every Pod would fail to start.
  restrict_oom_score_adj = true
[${criPlugin}.cni]
  bin_dir = "${findCniFolder() ?? "/usr/lib/cni"}"
  conf_dir = "${join(state.root, node.name, "cni")}"
[${criPlugin}.containerd]
  snapshotter = "overlayfs"
[${criPlugin}.containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
  runtime_path = "${join(programs.containerd, "containerd-shim-runc-v2")}"
[${criPlugin}.containerd.runtimes.runc.options]
  BinaryName = "runc"
  SystemdCgroup = false
# Both nodes would listen on the same socket, and the slower one would exit.
[plugins."io.containerd.nri.v1.nri"]
  disable = true
`;
}

function kubeletSettings(node: ClusterNode, state: StateFolder): unknown {
  const pkiFile = (name: string) => join(state.pkiFolder, name);
  return {
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    // From 1.35 on a kubelet refuses cgroup v1 by default.
    failCgroupV1: false,
    cgroupDriver: "cgroupfs",
    cgroupRoot: `/${PODS_CGROUP}/${node.name}`,
    containerRuntimeEndpoint: `unix://${state.socketOf(node.name)}`,
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: pkiFile("ca.crt") },
    },
    authorization: { mode: "Webhook" },
    tlsCertFile: pkiFile(`${node.name}.crt`),
    tlsPrivateKeyFile: pkiFile(`${node.name}.key`),
    resolvConf: join(state.root, "resolv.conf"),
    clusterDNS: [DNS_SERVICE_ADDRESS],
    clusterDomain: "cluster.local",
    podLogsDir: join(state.root, node.name, "pod-logs"),
    staticPodPath: state.staticPodsOf(node.name),
    makeIPTablesUtilChains: false,
    // Imported images cannot be pulled again, so they must not be collected.
    imageGCHighThresholdPercent: 100,
    evictionHard: {
      "memory.available": "50Mi",
      "nodefs.available": "1%",
      "imagefs.available": "1%",
      "nodefs.inodesFree": "0%",
    },
    nodeStatusReportFrequency: "1m",
  };
}

function proxySettings(node: ClusterNode, state: StateFolder, mode: ProxyMode): unknown {
  return {
    apiVersion: "kubeproxy.config.k8s.io/v1alpha1",
    kind: "KubeProxyConfiguration",
    clientConnection: { kubeconfig: join(state.pkiFolder, "proxy.kubeconfig") },
    hostnameOverride: node.name,
    mode,
    clusterCIDR: POD_NETWORK,
    // kube-proxy would fail to write these limits, which can be written only in the host's network namespace.
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: "0s", tcpCloseWaitTimeout: "0s" },
  };
}
