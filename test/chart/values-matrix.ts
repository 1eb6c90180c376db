/** Named sets of realistic chart values; tests check properties of every rendering with all of them. */
import type { Values } from "./rendering.ts";

const CERTIFICATE = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";

export const MATRIX: Readonly<Record<string, Values>> = {
  defaults: {},
  "failurePolicy Fail": { failurePolicy: "Fail" },
  "certificates of cert-manager": { certificates: { mode: "cert-manager" } },
  "certificates of an issuer": {
    certificates: { mode: "cert-manager", certManager: { issuerRef: { name: "corporate", kind: "ClusterIssuer" } } },
  },
  "an existing Secret": { certificates: { mode: "existing", existing: { secretName: "corporate-tls" } } },
  "an existing Secret with its CA": {
    certificates: { mode: "existing", existing: { secretName: "corporate-tls", caBundle: CERTIFICATE } },
  },
  "a policy": {
    policy: {
      defaults: { "drain-timeout": "2m", profile: "slow", port: "18000", "drain-url": "http://127.0.0.1:8080/drain" },
      profiles: { slow: { "drain-delay": "20s", "drained-when": "requests" } },
      onInvalid: "deny",
    },
  },
  "names that YAML could parse as other types": {
    policy: {
      defaults: { profile: "1e3", containers: "true", "drain-ports": "8080,9090", "ignore-ports": "0123" },
      profiles: { "1e3": { containers: "null" }, "0x1f": {}, "0o17": {}, null: {}, yes: {} },
    },
  },
  "opt-out mode with excluded namespaces": {
    injection: { mode: "opt-out", excludedNamespaces: ["calico-system", "kube-system"] },
  },
  "own selectors": {
    injection: {
      namespaceSelector: { matchLabels: { stage: "test" } },
      objectSelector: { matchExpressions: [{ key: "team", operator: "In", values: ["web"] }] },
    },
  },
  "a revision": { revision: "canary", monitoring: { dashboard: { enabled: true } } },
  "overridden names": { nameOverride: "other", fullnameOverride: "drain" },
  "common labels, extra volumes and pull secrets": {
    commonLabels: { team: "platform", "app.kubernetes.io/component": "user", "app.kubernetes.io/name": "user" },
    commonAnnotations: { owner: "platform", "checksum/config": "user" },
    image: { pullSecrets: ["one", { name: "two" }] },
    webhook: {
      extraArgs: ["--host=::"],
      extraEnv: [{ name: "NODE_EXTRA_CA_CERTS", value: "/etc/ssl/team.crt" }],
      extraVolumes: [{ name: "extra", emptyDir: {} }],
      extraVolumeMounts: [{ name: "extra", mountPath: "/extra" }],
      topologySpreadConstraints: [],
    },
  },
  "most values changed": {
    image: {
      registry: "registry.example:5000/team",
      pullSecrets: ["pull"],
      webhook: { digest: `sha256:${"a".repeat(64)}` },
      manager: {
        repository: "mirror/lastcall-manager",
        tag: "0.1.0-rc.1",
        pullPolicy: "Always",
        pullSecrets: ["pull", "b.c"],
      },
    },
    networkPolicy: {
      enabled: true,
      webhookFrom: [{ ipBlock: { cidr: "10.0.0.0/28" } }, { namespaceSelector: {}, podSelector: {} }],
      apiServerPorts: [6443],
      apiServerAddresses: ["10.0.0.0/28", "fd00::1/128"],
    },
    relay: { port: 9_444, adminPort: 9_090 },
    monitoring: {
      podMonitor: { enabled: true, labels: { release: "prometheus" }, interval: "1m" },
      prometheusRule: {
        enabled: true,
        labels: { release: "prometheus" },
        alertLabels: { team: "platform" },
        runbookUrl: "https://wiki.example/lastcall#",
      },
      dashboard: { enabled: true, labels: { grafana_dashboard: null, dashboards: "yes" } },
    },
    webhook: {
      replicas: 3,
      port: 10_250,
      drainDelay: "1500ms",
      logLevel: "debug",
      kubernetesVersion: "1.31",
      runAsUser: null,
      priorityClassName: "",
      podAnnotations: { "prometheus.io/scrape": "true" },
      podLabels: { team: "platform" },
      configurationAnnotations: { note: "user" },
      tolerations: [{ key: "system", operator: "Exists" }],
      affinity: { nodeAffinity: {} },
      serviceAnnotations: { a: "b" },
      serviceAccountAnnotations: { c: "d" },
    },
  },
  "a client CA": { webhook: { clientCA: "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n" } },
  "the host's network": { webhook: { hostNetwork: true }, relay: { adminPort: 0 } },
  "a ServiceMonitor": {
    monitoring: { serviceMonitor: { enabled: true, labels: { release: "prometheus" }, interval: "15s" } },
  },
  "two address families and a slow rollout": {
    webhook: {
      ipFamilyPolicy: "RequireDualStack",
      ipFamilies: ["IPv6", "IPv4"],
      strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 1, maxSurge: "25%" } },
    },
  },
  "the relay disabled": { relay: { enabled: false } },
  "a relay that must not read Pods": { relay: { readPods: false }, networkPolicy: { enabled: true } },
  "all optional objects disabled": {
    webhook: { replicas: 1, resources: { requests: {}, limits: {} }, nodeSelector: { "kubernetes.io/os": null } },
    podDisruptionBudget: { enabled: false },
    admissionPolicy: { enabled: false, guards: false },
    selfTest: { enabled: false },
    relay: { enabled: false },
  },
};

export const MATRIX_NAMES = Object.keys(MATRIX);
