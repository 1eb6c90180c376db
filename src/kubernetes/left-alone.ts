/** Kinds that are known and left alone, although they make Pods or look as if they held one. */
import { groupOf } from "./listed-objects.ts";

type LeftAlone = {
  readonly group: string;
  readonly kinds: readonly string[];
  /** Why, as the end of a sentence about the kind. */
  readonly reason: string;
  /** Most objects of the kind hold nothing like a Pod, and are not worth a word then. */
  readonly onlyLooksLike?: true;
};

const LEFT_ALONE: readonly LeftAlone[] = [
  {
    group: "serving.knative.dev",
    kinds: ["Service", "Configuration", "Revision"],
    reason: "Knative accepts no hook, grace period or init container in it, and its queue-proxy drains the Pod",
  },
  {
    group: "kubevirt.io",
    kinds: ["VirtualMachine", "VirtualMachineInstance", "VirtualMachineInstanceReplicaSet"],
    reason: "its template is that of a virtual machine, and KubeVirt makes the Pod around it",
  },
  {
    group: "argoproj.io",
    kinds: ["Workflow", "CronWorkflow", "WorkflowTemplate", "ClusterWorkflowTemplate"],
    reason: "its templates are steps that run to their end, and Argo makes the Pods around them",
  },
  {
    group: "apps.kruise.io",
    kinds: ["SidecarSet"],
    reason: "its containers are added to Pods of other workloads",
  },
  {
    group: "kyverno.io",
    kinds: ["Policy", "ClusterPolicy"],
    reason: "it holds patterns of Pods, and not Pods",
    onlyLooksLike: true,
  },
];

/** @returns why a kind is left alone; `undefined` when it is not. */
export function leftAlone(apiVersion: string, kind: string): Pick<LeftAlone, "reason" | "onlyLooksLike"> | undefined {
  const group = groupOf(apiVersion);
  return LEFT_ALONE.find((entry) => entry.group === group && entry.kinds.includes(kind));
}
