/** Defines the Go modules to build: their folders under `modules/`, packages and version flags. */
import type { Completion } from "./completed-source.ts";

export type GoModule = {
  /** Import paths of the programs. The path of a program from another module is also a `tool` line of the go.mod. */
  readonly packages: readonly string[];
  /** Programs that the build must produce. */
  readonly programs: readonly string[];
  /** The program name of `go build -o`, if it differs from the last part of the import path. */
  readonly output?: string;
  /** Linker flags after `-s -w`. */
  readonly link: readonly string[];
  /** Files that the build adds to the published source of a required module, or replaces in it. */
  readonly completion?: Completion;
};

/** Buildable minor versions of Kubernetes, with the exact version in their go.mod. */
export const KUBERNETES_VERSIONS = { "1.37": "1.37.0", "1.36": "1.36.3", "1.35": "1.35.4" } as const;
export type Minor = keyof typeof KUBERNETES_VERSIONS;
export const NEWEST_MINOR: Minor = "1.37";

const KUBERNETES_PROGRAMS = [
  "kube-apiserver",
  "kube-controller-manager",
  "kube-scheduler",
  "kubelet",
  "kube-proxy",
  "kubectl",
];

/** Without these flags an API server reports v0.0.0, which breaks feature checks and charts with a `kubeVersion`. */
function versionFlags(version: string): readonly string[] {
  const [major = "", minor = ""] = version.split(".");
  return ["k8s.io/component-base/version", "k8s.io/client-go/pkg/version"].flatMap((importPath) => [
    `-X ${importPath}.gitVersion=v${version}`,
    `-X ${importPath}.gitMajor=${major}`,
    `-X ${importPath}.gitMinor=${minor}`,
  ]);
}

function kubernetes(minor: Minor): GoModule {
  return {
    packages: KUBERNETES_PROGRAMS.map((program) => `k8s.io/kubernetes/cmd/${program}`),
    programs: KUBERNETES_PROGRAMS,
    link: versionFlags(KUBERNETES_VERSIONS[minor]),
  };
}

const CONTAINERD_PROGRAMS = ["containerd", "containerd-shim-runc-v2", "ctr"];

const KNATIVE_PROGRAMS = ["activator", "autoscaler", "controller", "queue", "webhook"];

export const GO_MODULES = {
  "kubernetes-1.37": kubernetes("1.37"),
  "kubernetes-1.36": kubernetes("1.36"),
  "kubernetes-1.35": kubernetes("1.35"),
  // Debian's containerd is 1.6, which cannot mount an image as a volume.
  containerd: {
    packages: CONTAINERD_PROGRAMS.map((program) => `github.com/containerd/containerd/v2/cmd/${program}`),
    programs: CONTAINERD_PROGRAMS,
    link: ["-X github.com/containerd/containerd/v2/version.Version=v2.1.5"],
  },
  etcd: { packages: ["go.etcd.io/etcd/server/v3"], programs: ["etcd"], output: "etcd", link: [] },
  pause: { packages: ["."], programs: ["pause"], output: "pause", link: [] },
  helm: { packages: ["helm.sh/helm/v4/cmd/helm"], programs: ["helm"], link: [] },
  argo: {
    packages: ["argoexec", "workflow-controller"].map((name) => `github.com/argoproj/argo-workflows/v3/cmd/${name}`),
    programs: ["argoexec", "workflow-controller"],
    link: ["-X github.com/argoproj/argo-workflows/v3.version=v3.7.2"],
    completion: { module: "github.com/argoproj/argo-workflows/v3", files: "completed" },
  },
  "argo-rollouts": {
    packages: ["github.com/argoproj/argo-rollouts/cmd/rollouts-controller"],
    programs: ["rollouts-controller"],
    link: ["-X github.com/argoproj/argo-rollouts/utils/version.version=v1.10.1"],
  },
  "envoy-gateway": {
    packages: ["github.com/envoyproxy/gateway/cmd/envoy-gateway"],
    programs: ["envoy-gateway"],
    link: ["-X github.com/envoyproxy/gateway/internal/cmd/version.envoyGatewayVersion=v1.9.1"],
  },
  contour: {
    packages: ["github.com/projectcontour/contour/cmd/contour"],
    programs: ["contour"],
    link: ["-X github.com/projectcontour/contour/internal/build.Version=v1.33.8"],
  },
  istio: {
    packages: ["pilot-agent", "pilot-discovery"].map((name) => `istio.io/istio/pilot/cmd/${name}`),
    programs: ["pilot-agent", "pilot-discovery"],
    link: ["-X istio.io/istio/pkg/version.buildVersion=1.31-alpha.20260827"],
  },
  traefik: {
    packages: ["github.com/traefik/traefik/v3/cmd/traefik"],
    programs: ["traefik"],
    link: ["-X github.com/traefik/traefik/v3/pkg/version.Version=3.7.13"],
    // Its ACME client links the libraries of about 200 DNS providers, some of which cannot be downloaded everywhere.
    completion: { module: "github.com/go-acme/lego/v5", files: "completed" },
  },
  knative: {
    packages: KNATIVE_PROGRAMS.map((program) => `knative.dev/serving/cmd/${program}`),
    programs: KNATIVE_PROGRAMS,
    link: [],
  },
  coredns: { packages: ["github.com/coredns/coredns"], programs: ["coredns"], link: [] },
} as const satisfies Readonly<Record<string, GoModule>>;

export type ModuleName = keyof typeof GO_MODULES;

export function isModuleName(text: string): text is ModuleName {
  return Object.hasOwn(GO_MODULES, text);
}
