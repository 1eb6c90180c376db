/** Tests the detection of Pods that may run on spot nodes. */
import { expect, test } from "vitest";
import { interruptionNoticeOf } from "../../src/injection/hooks/grace.ts";

const podWith = (spec: object) => ({ spec: { containers: [{ name: "app" }], ...spec } });
const affinity = (...terms: readonly object[]) => ({
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: terms.map((expression) => ({ matchExpressions: [expression] })),
      },
    },
  },
});
const GKE = "cloud.google.com/gke-spot";
const AKS = "kubernetes.azure.com/scalesetpriority";
const EKS = "eks.amazonaws.com/capacityType";
const KARPENTER = "karpenter.sh/capacity-type";

test.for([
  [{ nodeSelector: { [GKE]: "true" } }, 30, `nodeSelector ${GKE}`],
  [{ nodeSelector: { [EKS]: "SPOT" } }, 120, `nodeSelector ${EKS}`],
  [affinity({ key: KARPENTER, operator: "In", values: ["on-demand", "spot"] }), 120, `affinity ${KARPENTER}`],
  [affinity({ key: "zone", operator: "Exists" }, { key: GKE, operator: "Exists" }), 30, `affinity ${GKE}`],
  [{ tolerations: [{ key: AKS, operator: "Equal", value: "spot", effect: "NoSchedule" }] }, 30, `toleration ${AKS}`],
  [{ tolerations: [{ key: AKS, value: "spot" }] }, 30, `toleration ${AKS}`],
  [{ tolerations: [{ key: GKE, operator: "Exists" }] }, 30, `toleration ${GKE}`],
  [{ nodeSelector: { [EKS]: "SPOT" }, tolerations: [{ key: GKE, operator: "Exists" }] }, 30, `toleration ${GKE}`],
] as const)("a Pod with %j has an interruption notice of %i s because of its %s", ([spec, seconds, field]) => {
  expect(interruptionNoticeOf(podWith(spec))).toEqual({ seconds, field });
});

test.for([
  {},
  { nodeSelector: { [EKS]: "ON_DEMAND" } },
  affinity({ key: KARPENTER, operator: "NotIn", values: ["spot"] }),
  affinity({ key: KARPENTER, operator: "In", values: ["on-demand"] }),
  { tolerations: [{ operator: "Exists" }] },
  { tolerations: [{ key: AKS, operator: "Equal", value: "regular" }] },
  { nodeSelector: "spot", tolerations: [7], affinity: [] },
])("a Pod with %j does not have an interruption notice", (spec) => {
  expect(interruptionNoticeOf(podWith(spec))).toBeUndefined();
});
