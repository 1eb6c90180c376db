/** Lists kinds that lastcall does not inject although they create Pods or contain mappings that resemble a Pod. */
import { groupOf } from "./listed-objects.ts";

type UninjectedKind = {
  readonly group: string;
  readonly kinds: readonly string[];
  readonly reason: string;
  /** Set if most objects of the kind do not contain a mapping that resembles a Pod. Only objects that contain one get a warning. */
  readonly warnsOnlyAboutPodShapes?: true;
};

const UNINJECTED_KINDS: readonly UninjectedKind[] = [
  {
    group: "serving.knative.dev",
    kinds: ["Service", "Configuration", "Revision"],
    reason:
      "Knative does not allow hooks, a grace period or init containers in it, and Knative's queue-proxy drains the Pod",
  },
  {
    group: "kubevirt.io",
    kinds: ["VirtualMachine", "VirtualMachineInstance", "VirtualMachineInstanceReplicaSet"],
    reason: "its template describes a virtual machine, for which KubeVirt creates the Pod",
  },
  {
    group: "argoproj.io",
    kinds: ["Workflow", "CronWorkflow", "WorkflowTemplate", "ClusterWorkflowTemplate"],
    reason: "its templates are steps that run to completion, for which Argo creates the Pods",
  },
  {
    group: "apps.kruise.io",
    kinds: ["SidecarSet"],
    reason: "its containers are added to Pods of other workloads",
  },
  {
    group: "kyverno.io",
    kinds: ["Policy", "ClusterPolicy"],
    reason: "it contains patterns for Pods, not Pods",
    warnsOnlyAboutPodShapes: true,
  },
];

export function findUninjectedKind(
  apiVersion: string,
  kind: string,
): Pick<UninjectedKind, "reason" | "warnsOnlyAboutPodShapes"> | undefined {
  const group = groupOf(apiVersion);
  return UNINJECTED_KINDS.find((entry) => entry.group === group && entry.kinds.includes(kind));
}
