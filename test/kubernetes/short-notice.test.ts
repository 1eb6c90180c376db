/** Tests the detection of Pods that may run on spot nodes. */
import { expect, test } from "vitest";
import { interruptionNoticeOf } from "../../src/injection/hooks/grace.ts";

const createPod = (spec: object) => ({ spec: { containers: [{ name: "app" }], ...spec } });
const createAffinity = (...terms: readonly object[]) => ({
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: terms.map((expression) => ({ matchExpressions: [expression] })),
      },
    },
  },
});
const GKE_LABEL = "cloud.google.com/gke-spot";
const AKS_LABEL = "kubernetes.azure.com/scalesetpriority";
const EKS_LABEL = "eks.amazonaws.com/capacityType";
const KARPENTER_LABEL = "karpenter.sh/capacity-type";

test.for([
  [{ nodeSelector: { [GKE_LABEL]: "true" } }, 30, `nodeSelector ${GKE_LABEL}`],
  [{ nodeSelector: { [EKS_LABEL]: "SPOT" } }, 120, `nodeSelector ${EKS_LABEL}`],
  [
    createAffinity({ key: KARPENTER_LABEL, operator: "In", values: ["on-demand", "spot"] }),
    120,
    `affinity ${KARPENTER_LABEL}`,
  ],
  [
    createAffinity({ key: "zone", operator: "Exists" }, { key: GKE_LABEL, operator: "Exists" }),
    30,
    `affinity ${GKE_LABEL}`,
  ],
  [
    { tolerations: [{ key: AKS_LABEL, operator: "Equal", value: "spot", effect: "NoSchedule" }] },
    30,
    `toleration ${AKS_LABEL}`,
  ],
  [{ tolerations: [{ key: AKS_LABEL, value: "spot" }] }, 30, `toleration ${AKS_LABEL}`],
  [{ tolerations: [{ key: GKE_LABEL, operator: "Exists" }] }, 30, `toleration ${GKE_LABEL}`],
  [
    { nodeSelector: { [EKS_LABEL]: "SPOT" }, tolerations: [{ key: GKE_LABEL, operator: "Exists" }] },
    30,
    `toleration ${GKE_LABEL}`,
  ],
] as const)("a Pod with %j has an interruption notice of %i s because of its %s", ([spec, seconds, field]) => {
  expect(interruptionNoticeOf(createPod(spec))).toEqual({ seconds, field });
});

test.for([
  {},
  { nodeSelector: { [EKS_LABEL]: "ON_DEMAND" } },
  createAffinity({ key: KARPENTER_LABEL, operator: "NotIn", values: ["spot"] }),
  createAffinity({ key: KARPENTER_LABEL, operator: "In", values: ["on-demand"] }),
  { tolerations: [{ operator: "Exists" }] },
  { tolerations: [{ key: AKS_LABEL, operator: "Equal", value: "regular" }] },
  { nodeSelector: "spot", tolerations: [7], affinity: [] },
])("a Pod with %j does not have an interruption notice", (spec) => {
  expect(interruptionNoticeOf(createPod(spec))).toBeUndefined();
});
