/** What decided that a Pod is left alone: the place, its value, and what would be right. */
import { MANAGER_CONTAINER } from "../../contract/manager-environment.ts";
import { containerNamed, containersOf, countContainers, initContainersOf, nameOf } from "../../kubernetes/pod.ts";
import { objectAt, type RawObject, textAt } from "../../kubernetes/raw-json.ts";
import { LONGEST_NAME_LIST } from "../../policy/codecs.ts";
import type { Problem } from "../../policy/problem.ts";
import { quote } from "../../policy/quote.ts";
import { FIRST_PORT, LAST_PORT, portsOf } from "../mesh/ports.ts";
import type { SkipReason } from "../outcome.ts";

/** For the reasons that need no plan; nothing for those that surprise no one. */
export function skipProblems(reason: SkipReason, pod: RawObject, where: string): readonly Problem[] {
  const found = factOf(reason, pod);
  return found === undefined
    ? []
    : [{ code: "not_injected", where: `${where}, ${found.place}`, message: found.message }];
}

function factOf(reason: SkipReason, pod: RawObject): { readonly place: string; readonly message: string } | undefined {
  switch (reason) {
    case "too_many_containers":
      return {
        place: "spec",
        message: `It has ${countContainers(pod)} containers; at most ${LONGEST_NAME_LIST} are planned.`,
      };
    case "host_network":
      return {
        place: "spec.hostNetwork",
        message: "It is true; a Pod with a network of its own, false, would be injected.",
      };
    case "zero_grace":
      return { place: "spec.terminationGracePeriodSeconds", message: "It is 0; 1 or more would be injected." };
    case "classic_would_block_completion": {
      const policy = textAt(objectAt(pod, "spec"), "restartPolicy");
      const message = `It is ${policy}, and the mode is classic; mode native, from Kubernetes 1.29, would be injected.`;
      return { place: "spec.restartPolicy", message };
    }
    case "name_taken": {
      const image = quote(textAt(containerNamed(pod, MANAGER_CONTAINER), "image") ?? "");
      return {
        place: `container ${MANAGER_CONTAINER}`,
        message: `Its image is ${image}; with another name it would not be in the way.`,
      };
    }
    default:
      return undefined;
  }
}

/** @param said by a node, in an Event of the namespace */
export function unpullable(image: string, said: string, where: string): Problem {
  const message =
    `Nodes could not pull ${quote(image)} for Pods of this namespace (${quote(said)}); with the image and its pull ` +
    "secrets in place new Pods are injected again within ten minutes.";
  return { code: "not_injected", where: `${where}, container ${MANAGER_CONTAINER}`, message };
}

/** Which of the range is taken by what, such as `17890-17939 by container app`; told when nothing is free. */
export function portConflict(pod: RawObject, wanted: number, drainPorts: readonly number[], where: string): Problem {
  const holders = new Map<number, string>(drainPorts.map((port) => [port, "lastcall.dev/drain-ports"]));
  for (const container of [...initContainersOf(pod), ...containersOf(pod)]) {
    for (const port of portsOf(container)) holders.set(port, `container ${nameOf(container)}`);
  }
  const runs: { first: number; last: number; holder: string }[] = [];
  for (let port = FIRST_PORT; port <= LAST_PORT; port += 1) {
    const holder = holders.get(port) ?? "";
    const run = runs.at(-1);
    if (run?.holder === holder) run.last = port;
    else runs.push({ first: port, last: port, holder });
  }
  const texts = runs.map(({ first, last, holder }) => `${first === last ? first : `${first}-${last}`} by ${holder}`);
  const isInRange = FIRST_PORT <= wanted && wanted <= LAST_PORT;
  const taken = isInRange ? texts : [`${wanted} by ${holders.get(wanted)}`, ...texts];
  const message = `Taken are ${withinLength(taken, TAKEN_LENGTH)}; any free port here would do.`;
  return { code: "not_injected", where: `${where}, lastcall.dev/port`, message };
}

/** Characters that leave room for the rest of a message of 200. */
const TAKEN_LENGTH = 140;

/** The first texts, as many as fit the length; always one. */
function withinLength(texts: readonly string[], length: number): string {
  let told = texts[0] ?? "";
  for (const text of texts.slice(1)) {
    if (told.length + text.length + 2 > length) return `${told}, and more`;
    told += `, ${text}`;
  }
  return told;
}

export function patchProblem(patchText: string, patchBytes: number, where: string): Problem {
  const bytes = new TextEncoder().encode(patchText).length;
  return {
    code: "not_injected",
    where,
    message: `The patch would have ${bytes} bytes; at most ${patchBytes} are sent.`,
  };
}
