/** Runs CoreDNS at the cluster's DNS address, for programs that find Services by name. */
import type { KubernetesObject } from "@kubernetes/client-node";
import { DNS_SERVICE_ADDRESS } from "../cluster/addresses.ts";
import { importGoPrograms } from "./go-programs.ts";
import { kubectlOf } from "./kubectl.ts";
import type { Suite } from "./suite.ts";

const COREDNS_IMAGE = "localhost/coredns:test";
const NAMESPACE = "kube-system";
const NAME = "coredns";
const DNS_LABELS = { "k8s-app": "kube-dns" };

const COREFILE = `.:53 {
  errors
  ready :8181
  kubernetes cluster.local in-addr.arpa ip6.arpa {
    ttl 5
  }
}
`;

export async function startDns(suite: Suite): Promise<void> {
  await importGoPrograms(suite, "coredns", [{ name: COREDNS_IMAGE, program: "coredns", user: "0:0" }]);
  const kubectl = kubectlOf(suite);
  const list = JSON.stringify({ apiVersion: "v1", kind: "List", items: dnsObjects() });
  await kubectl.run(["apply", "--server-side", "--force-conflicts", "--filename=-"], list);
  await kubectl.run(["--namespace", NAMESPACE, "rollout", "status", `deployment/${NAME}`, "--timeout=120s"]);
}

function dnsObjects(): readonly KubernetesObject[] {
  const metadata = { name: NAME, namespace: NAMESPACE };
  const subjects = [{ kind: "ServiceAccount", name: NAME, namespace: NAMESPACE }];
  const objects: readonly (KubernetesObject & Readonly<Record<string, unknown>>)[] = [
    { apiVersion: "v1", kind: "ServiceAccount", metadata },
    {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRole",
      metadata: { name: "system:coredns" },
      rules: [
        { apiGroups: [""], resources: ["services", "pods", "namespaces"], verbs: ["list", "watch"] },
        { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: ["list", "watch"] },
      ],
    },
    {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRoleBinding",
      metadata: { name: "system:coredns" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "system:coredns" },
      subjects,
    },
    { apiVersion: "v1", kind: "ConfigMap", metadata, data: { Corefile: COREFILE } },
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "kube-dns", namespace: NAMESPACE },
      spec: {
        clusterIP: DNS_SERVICE_ADDRESS,
        selector: DNS_LABELS,
        ports: [
          { name: "dns", port: 53, protocol: "UDP" },
          { name: "dns-tcp", port: 53, protocol: "TCP" },
        ],
      },
    },
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata,
      spec: {
        selector: { matchLabels: DNS_LABELS },
        template: {
          metadata: { labels: DNS_LABELS },
          spec: {
            serviceAccountName: NAME,
            dnsPolicy: "Default",
            containers: [
              {
                name: NAME,
                image: COREDNS_IMAGE,
                imagePullPolicy: "IfNotPresent",
                args: ["-conf", "/etc/coredns/Corefile"],
                volumeMounts: [{ name: "config", mountPath: "/etc/coredns" }],
                readinessProbe: { httpGet: { path: "/ready", port: 8181 }, periodSeconds: 1 },
              },
            ],
            volumes: [{ name: "config", configMap: { name: NAME } }],
          },
        },
      },
    },
  ];
  return objects;
}
