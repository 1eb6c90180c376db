/** Reports why a Pod is not injected: place, value, and remedy. */
import { MANAGER_CONTAINER } from "../../contract/manager-environment.ts";
import { containerNamed, containersOf, countContainers, initContainersOf, nameOf } from "../../kubernetes/pod.ts";
import { objectAt, type RawObject, textAt } from "../../kubernetes/raw-json.ts";
import { NAME_LIST_LIMIT } from "../../policy/codecs.ts";
import type { Problem } from "../../policy/problem.ts";
import { quote } from "../../policy/quote.ts";
import { MAX_MANAGER_PORT, MIN_MANAGER_PORT, portsOf } from "../mesh/ports.ts";
import type { SkipReason } from "../outcome.ts";

/** Returns the problems of a skip that is decided before the plan; an expected skip has none. */
export function skipProblems(reason: SkipReason, pod: RawObject, where: string): readonly Problem[] {
  const details = skipDetails(reason, pod);
  return details === undefined
    ? []
    : [{ code: "not_injected", where: `${where}, ${details.place}`, message: details.message }];
}

function skipDetails(
  reason: SkipReason,
  pod: RawObject,
): { readonly place: string; readonly message: string } | undefined {
  switch (reason) {
    case "too_many_containers":
      return {
        place: "spec",
        message: `${countContainers(pod)} containers exceed the limit of ${NAME_LIST_LIMIT}.`,
      };
    case "host_network":
      return {
        place: "spec.hostNetwork",
        message: "Is true. Set it to false to inject the Pod.",
      };
    case "zero_grace":
      return { place: "spec.terminationGracePeriodSeconds", message: "Is 0. Set 1 or more to inject the Pod." };
    case "classic_would_block_completion": {
      const policy = textAt(objectAt(pod, "spec"), "restartPolicy");
      const message = `Is ${policy}, which mode classic does not support. Use mode native, which requires Kubernetes 1.29.`;
      return { place: "spec.restartPolicy", message };
    }
    case "name_taken": {
      const image = quote(textAt(containerNamed(pod, MANAGER_CONTAINER), "image") ?? "");
      return {
        place: `container ${MANAGER_CONTAINER}`,
        message: `Has the image ${image} and the name that lastcall uses. Rename the container.`,
      };
    }
    default:
      return undefined;
  }
}

/** @param nodeError the node's error message, from an Event in the namespace */
export function unpullableProblem(image: string, nodeError: string, where: string): Problem {
  const message =
    `Nodes cannot pull ${quote(image)} in this namespace (${quote(nodeError)}). Provide the image and its pull secrets; ` +
    "new Pods are then injected within ten minutes.";
  return { code: "not_injected", where: `${where}, container ${MANAGER_CONTAINER}`, message };
}

/** Lists the ports in use, such as `17890-17939 (container app)`. */
export function portConflictProblem(
  pod: RawObject,
  desired: number,
  drainPorts: readonly number[],
  where: string,
): Problem {
  const portUsers = new Map<number, string>(drainPorts.map((port) => [port, "lastcall.dev/drain-ports"]));
  for (const container of [...initContainersOf(pod), ...containersOf(pod)]) {
    for (const port of portsOf(container)) portUsers.set(port, `container ${nameOf(container)}`);
  }
  const ranges: { first: number; last: number; user: string }[] = [];
  for (let port = MIN_MANAGER_PORT; port <= MAX_MANAGER_PORT; port += 1) {
    const user = portUsers.get(port) ?? "";
    const range = ranges.at(-1);
    if (range?.user === user) range.last = port;
    else ranges.push({ first: port, last: port, user });
  }
  const texts = ranges.map(({ first, last, user }) => `${first === last ? first : `${first}-${last}`} (${user})`);
  const isInRange = MIN_MANAGER_PORT <= desired && desired <= MAX_MANAGER_PORT;
  const usedPortTexts = isInRange ? texts : [`${desired} (${portUsers.get(desired)})`, ...texts];
  const message = `Ports ${withinLength(usedPortTexts, PORTS_LIMIT_CHARACTERS)} are in use. Set a free port.`;
  return { code: "not_injected", where: `${where}, lastcall.dev/port`, message };
}

/** Leaves space for the rest of a message of 200 characters. */
const PORTS_LIMIT_CHARACTERS = 140;

function withinLength(texts: readonly string[], length: number): string {
  let shown = texts[0] ?? "";
  for (const text of texts.slice(1)) {
    if (shown.length + text.length + 2 > length) return `${shown}, and more`;
    shown += `, ${text}`;
  }
  return shown;
}

export function patchProblem(patchText: string, patchBytes: number, where: string): Problem {
  const bytes = new TextEncoder().encode(patchText).length;
  return {
    code: "not_injected",
    where,
    message: `The patch that injects the Pod has ${bytes} bytes, more than the limit of ${patchBytes}.`,
  };
}
