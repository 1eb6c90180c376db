/** Records the changes of a namespace's Pods, its Events and the managers' logs, in order. */
import type { ChildProcess } from "node:child_process";
import type { CoreV1Event, V1ContainerStatus, V1Pod } from "@kubernetes/client-node";
import type { Kubectl } from "./kubectl.ts";

export type Timeline = {
  readonly note: (line: string) => void;
  /** Stops watching and returns the lines by time. */
  readonly end: () => Promise<readonly string[]>;
};

export type TimelineSource = {
  readonly kubectl: Kubectl;
  readonly namespace: string;
  /** `pods` omits the managers' logs, each of which needs a process. */
  readonly depth: "pods" | "logs";
};

/** The manager's container in an injected Pod. */
const MANAGER = "lastcall";

export function recordTimeline({ kubectl, namespace, depth }: TimelineSource): Timeline {
  const lines: string[] = [];
  const add = (at: string, line: string) => void lines.push(`${at} ${line}`);
  const note = (line: string) => add(new Date().toISOString(), line);
  const here = ["--namespace", namespace];
  const followed = new Map<string, ChildProcess>();
  const last = new Map<string, string>();

  const onPod = (pod: V1Pod) => {
    const name = pod.metadata?.name ?? "";
    const state = describePod(pod);
    if (last.get(name) !== state) note(`pod ${name}: ${state}`);
    last.set(name, state);
    if (depth === "logs" && !followed.has(name) && managerRuns(pod)) {
      const logs = [...here, "logs", "--follow", "--timestamps", `--container=${MANAGER}`, name];
      const reader = kubectl.follow(logs, (line) => {
        const space = line.indexOf(" ");
        add(line.slice(0, space), `manager of ${name}: ${line.slice(space + 1)}`);
      });
      followed.set(name, reader);
    }
  };
  const watches = [
    kubectl.follow([...here, "get", "pods", "--watch", "--output=json"], documents<V1Pod>(onPod)),
    kubectl.follow(
      [...here, "get", "events", "--watch", "--output=json"],
      documents<CoreV1Event>((event) => note(`event ${describeEvent(event)}`)),
    ),
  ];
  return {
    note,
    end: async () => {
      await Promise.all([...watches, ...followed.values()].map(ended));
      return [...lines].sort();
    },
  };
}

/** Splits a stream of indented JSON documents: each ends with a line that is `}`. */
export function documents<T>(onObject: (object: T) => void): (line: string) => void {
  let text = "";
  return (line) => {
    text += `${line}\n`;
    if (line !== "}") return;
    const whole = text;
    text = "";
    onObject(JSON.parse(whole));
  };
}

function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    child.once("close", () => resolve());
    child.kill();
  });
}

function managerRuns(pod: V1Pod): boolean {
  return statuses(pod).some(({ name, state }) => name === MANAGER && state?.running !== undefined);
}

function statuses(pod: V1Pod): readonly V1ContainerStatus[] {
  return [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
}

function describePod(pod: V1Pod): string {
  const ready = pod.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
  const parts = [
    pod.status?.phase ?? "new",
    ready ? "ready" : "not ready",
    ...(pod.spec?.nodeName === undefined ? [] : [`on ${pod.spec.nodeName}`]),
    ...(pod.metadata?.deletionTimestamp === undefined ? [] : ["terminating"]),
    ...statuses(pod).map(describeContainer),
  ];
  return parts.join(", ");
}

function describeContainer({ name, state, restartCount, ready }: V1ContainerStatus): string {
  const again = restartCount > 0 ? ` (restart ${restartCount})` : "";
  if (state?.running !== undefined) return `${name} running${ready ? "" : ", not ready"}${again}`;
  if (state?.terminated !== undefined) {
    return `${name} ended with ${state.terminated.exitCode} (${state.terminated.reason ?? "no reason"})${again}`;
  }
  return `${name} waiting (${state?.waiting?.reason ?? "no reason"})${again}`;
}

function describeEvent({ type, reason, message, involvedObject }: CoreV1Event): string {
  return `${type ?? ""} ${reason ?? ""} on ${involvedObject.kind ?? ""} ${involvedObject.name ?? ""}: ${message ?? ""}`;
}
