/** Builds the AdmissionReviews of a small and a large Pod as the API server sends them, with defaults and a token volume. */
export type Size = "small" | "large";

export const SIZES: readonly Size[] = ["small", "large"];

export function reviewBytes(size: Size): Buffer {
  return Buffer.from(JSON.stringify(size === "small" ? buildReview(1, 9) : buildReview(12, 2_000)));
}

const PROBE = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 };

function buildContainer(index: number, variables: number): object {
  return {
    name: `app-${index}`,
    image: `registry.example/shop/app-${index}:v1.18.3`,
    args: ["--listen=:8080", "--metrics=:9090"],
    ports: [{ name: `http-${index}`, containerPort: 8080 + index, protocol: "TCP" }],
    env: Array.from({ length: variables }, (_, variable) => ({
      name: `SETTING_${index}_${variable}`,
      value: `value-of-setting-${variable}-${"abcdefghij".repeat(7)}`,
    })),
    resources: { limits: { cpu: "1", memory: "512Mi" }, requests: { cpu: "250m", memory: "256Mi" } },
    volumeMounts: [
      { name: "kube-api-access-x7k2p", readOnly: true, mountPath: "/var/run/secrets/kubernetes.io/serviceaccount" },
    ],
    readinessProbe: { httpGet: { path: "/ready", port: 8080 + index, scheme: "HTTP" }, ...PROBE },
    livenessProbe: { httpGet: { path: "/live", port: 8080 + index, scheme: "HTTP" }, ...PROBE },
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
    imagePullPolicy: "IfNotPresent",
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] }, runAsNonRoot: true },
  };
}

function buildReview(containers: number, variables: number): object {
  const variablesPerContainer = Math.ceil(variables / containers);
  const metadata = {
    generateName: "checkout-7d9c5b8f64-",
    namespace: "shop",
    labels: { app: "checkout", "pod-template-hash": "7d9c5b8f64" },
    annotations: { "prometheus.io/scrape": "true", "prometheus.io/port": "9090" },
    ownerReferences: [
      {
        apiVersion: "apps/v1",
        kind: "ReplicaSet",
        name: "checkout-7d9c5b8f64",
        uid: "c4a1f6de-40a6-4f3c-9b9f-0d6e6c1f2a11",
        controller: true,
        blockOwnerDeletion: true,
      },
    ],
  };
  const spec = {
    volumes: [{ name: "kube-api-access-x7k2p", projected: { sources: tokenSources(), defaultMode: 420 } }],
    containers: Array.from({ length: containers }, (_, index) => buildContainer(index, variablesPerContainer)),
    restartPolicy: "Always",
    terminationGracePeriodSeconds: 30,
    dnsPolicy: "ClusterFirst",
    serviceAccountName: "checkout",
    serviceAccount: "checkout",
    securityContext: { seccompProfile: { type: "RuntimeDefault" } },
    schedulerName: "default-scheduler",
    tolerations: ["not-ready", "unreachable"].map((reason) => ({
      key: `node.kubernetes.io/${reason}`,
      operator: "Exists",
      effect: "NoExecute",
      tolerationSeconds: 300,
    })),
    priority: 0,
    enableServiceLinks: true,
    preemptionPolicy: "PreemptLowerPriority",
  };
  const kind = { group: "", version: "v1", kind: "Pod" };
  const resource = { group: "", version: "v1", resource: "pods" };
  const request = {
    uid: "705ab4f5-6393-11e8-b7cc-42010a800002",
    kind,
    resource,
    requestKind: kind,
    requestResource: resource,
    namespace: "shop",
    operation: "CREATE",
    userInfo: {
      username: "system:serviceaccount:kube-system:replicaset-controller",
      uid: "a3a1e0fe-1f0e-4ad5-a3a4-7e1d5b3c9f00",
      groups: ["system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated"],
    },
    object: { kind: "Pod", apiVersion: "v1", metadata, spec, status: {} },
    oldObject: null,
    dryRun: false,
    options: { kind: "CreateOptions", apiVersion: "meta.k8s.io/v1" },
  };
  return { kind: "AdmissionReview", apiVersion: "admission.k8s.io/v1", request };
}

function tokenSources(): readonly object[] {
  return [
    { serviceAccountToken: { expirationSeconds: 3607, path: "token" } },
    { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
    {
      downwardAPI: { items: [{ path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } }] },
    },
  ];
}
