/** Lists kinds without injection although they create Pods or contain something shaped like one. */
import { groupOf } from "./listed-objects.ts";

type LeftAlone = {
  readonly group: string;
  readonly kinds: readonly string[];
  readonly reason: string;
  /** Most objects of the kind contain nothing shaped like a Pod and need no warning. */
  readonly hasOnlyPodShape?: true;
};

const LEFT_ALONE: readonly LeftAlone[] = [
  {
    group: "serving.knative.dev",
    kinds: ["Service", "Configuration", "Revision"],
    reason: "Knative allows no hook, grace period or init container in it, and its queue-proxy drains the Pod",
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
    hasOnlyPodShape: true,
  },
];

export function leftAlone(apiVersion: string, kind: string): Pick<LeftAlone, "reason" | "hasOnlyPodShape"> | undefined {
  const group = groupOf(apiVersion);
  return LEFT_ALONE.find((entry) => entry.group === group && entry.kinds.includes(kind));
}
