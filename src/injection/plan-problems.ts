/** What a person should know about a plan beside its hooks. */
import { annotationsOf } from "../kubernetes/pod.ts";
import { podLevelResources, qosClass } from "../kubernetes/qos.ts";
import { objectAt, type RawObject, textAt } from "../kubernetes/raw-json.ts";
import type { Problem } from "../policy/problem.ts";
import { quote } from "../policy/quote.ts";
import { socketMount } from "./driver-socket.ts";
import type { Edit } from "./edit.ts";
import { AUTOSCALER_WAIT_SECONDS } from "./grace.ts";
import { changesQos, type ManagerResourcesPlan } from "./manager-resources.ts";
import { capturesOf } from "./mesh-ports.ts";
import type { PlanRequest } from "./plan-request.ts";

export function graceProblems(seconds: number, where: string): readonly Problem[] {
  if (seconds <= AUTOSCALER_WAIT_SECONDS) return [];
  const message = `The grace period is now ${seconds} s; cluster-autoscaler waits 600 s by default, spot nodes far less.`;
  return [{ code: "long_grace", where: `${where}, terminationGracePeriodSeconds`, message }];
}

export function resourceProblems(
  planned: ManagerResourcesPlan,
  { pod, policy, where }: PlanRequest,
): readonly Problem[] {
  const { resources, noHeadroom } = planned;
  if (noHeadroom) {
    const message = "The Pod's own resources leave no room for the manager's requests and limits; it gets none.";
    return [{ code: "no_headroom", where: `${where}, spec.resources`, message }];
  }
  if (policy.resources === "auto" || podLevelResources(pod) !== undefined) return [];
  const before = qosClass(pod);
  if (!changesQos(before, resources)) return [];
  const message = `These resources of the manager end the Pod's class ${before}; auto would keep it.`;
  return [{ code: "conflicting_values", where: `${where}, lastcall.dev/resources`, message }];
}

export function socketProblems(pod: RawObject, driverUrl: string, where: string): readonly Problem[] {
  if (!driverUrl.startsWith("unix:") || socketMount(pod, driverUrl) !== undefined) return [];
  const message =
    `No container mounts the folder of ${quote(driverUrl)} from a volume that can hold a socket and without ` +
    "subPathExpr, so the driver cannot be reached.";
  return [{ code: "socket_unmounted", where: `${where}, lastcall.dev/driver-url`, message }];
}

/** Only where kubelet calls our port itself: a hook that Istio took over goes through a port of its agent. */
export function meshProblems(
  pod: RawObject,
  changes: readonly Edit[],
  port: number,
  where: string,
): readonly Problem[] {
  const isCalled = changes.some(
    (edit) => edit.kind === "set-pre-stop" && objectAt(edit.handler, "httpGet")?.["port"] === port,
  );
  if (!isCalled) return [];
  const set = changes.find((edit) => edit.kind === "annotate");
  const annotations = { ...annotationsOf(pod), ...set?.values };
  return capturesOf(pod, port).map(({ init, exclusion }) => ({
    code: "mesh_captures_port",
    where: `${where}, init container ${init}`,
    message:
      `Its redirection is rendered already without port ${port}; strict mTLS would block the hooks. ` +
      `${exclusion}: ${quote(textAt(annotations, exclusion) ?? String(port))} on the Pod's template would keep it out.`,
  }));
}

/** A standing native manager that another webhook stripped would be an init container that never ends. */
export function repairProblems({ injected, mode, where }: PlanRequest): readonly Problem[] {
  const manager = injected?.manager;
  if (mode !== "native" || manager?.list !== "initContainers") return [];
  if (manager.container["restartPolicy"] === "Always") return [];
  const message = "Its restartPolicy: Always was gone, which would block the Pod's start; it is back.";
  return [{ code: "manager_repaired", where: `${where}, container lastcall`, message }];
}
