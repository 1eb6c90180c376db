/** Builds reviews as the API server sends them. */
export const POD = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web-0", namespace: "shop" },
  spec: {
    containers: [{ name: "app", image: "shop:1", env: [{ name: "PASSWORD", value: "hunter2" }] }],
    restartPolicy: "Always",
    terminationGracePeriodSeconds: 30,
  },
} as const;

export type RequestFields = Readonly<Record<string, unknown>>;

export function reviewOf(fields: RequestFields = {}): Record<string, unknown> {
  const request = {
    uid: "705ab4f5-6393-11e8-b7cc-42010a800002",
    kind: { group: "", version: "v1", kind: "Pod" },
    resource: { group: "", version: "v1", resource: "pods" },
    operation: "CREATE",
    namespace: "shop",
    object: POD,
    dryRun: false,
    ...fields,
  };
  return { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request };
}

export function reviewText(fields: RequestFields = {}): string {
  return JSON.stringify(reviewOf(fields));
}

export const JSON_HEADERS = { "content-type": "application/json" } as const;
