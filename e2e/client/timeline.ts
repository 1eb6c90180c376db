/** Records the changes of a namespace's Pods, its Events and the managers' logs, in order. */
import type { ChildProcess } from "node:child_process";
import type { CoreV1Event, V1ContainerStatus, V1Pod } from "@kubernetes/client-node";
import type { Kubectl } from "./kubectl.ts";

export type Timeline = {
  readonly addTimelineLine: (line: string) => void;
  /** Stops watching and returns the lines, sorted by time. */
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
  const addLineAt = (at: string, line: string) => void lines.push(`${at} ${line}`);
  const addLine = (line: string) => addLineAt(new Date().toISOString(), line);
  const namespaceFlags = ["--namespace", namespace];
  const logReaders = new Map<string, ChildProcess>();
  const lastStates = new Map<string, string>();

  const onPod = (pod: V1Pod) => {
    const name = pod.metadata?.name ?? "";
    const state = describePod(pod);
    if (lastStates.get(name) !== state) addLine(`pod ${name}: ${state}`);
    lastStates.set(name, state);
    if (depth === "logs" && !logReaders.has(name) && isManagerRunning(pod)) {
      const logArgs = [...namespaceFlags, "logs", "--follow", "--timestamps", `--container=${MANAGER}`, name];
      const reader = kubectl.follow(logArgs, (line) => {
        const space = line.indexOf(" ");
        addLineAt(line.slice(0, space), `manager of ${name}: ${line.slice(space + 1)}`);
      });
      logReaders.set(name, reader);
    }
  };
  const watches = [
    kubectl.follow([...namespaceFlags, "get", "pods", "--watch", "--output=json"], splitDocuments<V1Pod>(onPod)),
    kubectl.follow(
      [...namespaceFlags, "get", "events", "--watch", "--output=json"],
      splitDocuments<CoreV1Event>((event) => addLine(`event ${describeEvent(event)}`)),
    ),
  ];
  return {
    addTimelineLine: addLine,
    end: async () => {
      await Promise.all([...watches, ...logReaders.values()].map(stopProcess));
      return [...lines].sort();
    },
  };
}

/** Splits a stream of indented JSON documents: each ends with a line that is `}`. */
export function splitDocuments<T>(onObject: (object: T) => void): (line: string) => void {
  let text = "";
  return (line) => {
    text += `${line}\n`;
    if (line !== "}") return;
    const json = text;
    text = "";
    onObject(JSON.parse(json));
  };
}

function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    child.once("close", () => resolve());
    child.kill();
  });
}

function isManagerRunning(pod: V1Pod): boolean {
  return containerStatusesOf(pod).some(({ name, state }) => name === MANAGER && state?.running !== undefined);
}

function containerStatusesOf(pod: V1Pod): readonly V1ContainerStatus[] {
  return [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
}

function describePod(pod: V1Pod): string {
  const ready = pod.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
  const parts = [
    pod.status?.phase ?? "new",
    ready ? "ready" : "not ready",
    ...(pod.spec?.nodeName === undefined ? [] : [`on ${pod.spec.nodeName}`]),
    ...(pod.metadata?.deletionTimestamp === undefined ? [] : ["terminating"]),
    ...containerStatusesOf(pod).map(describeContainer),
  ];
  return parts.join(", ");
}

function describeContainer({ name, state, restartCount, ready }: V1ContainerStatus): string {
  const restarts = restartCount > 0 ? ` (restart ${restartCount})` : "";
  if (state?.running !== undefined) return `${name} running${ready ? "" : ", not ready"}${restarts}`;
  if (state?.terminated !== undefined) {
    return `${name} ended with ${state.terminated.exitCode} (${state.terminated.reason ?? "no reason"})${restarts}`;
  }
  return `${name} waiting (${state?.waiting?.reason ?? "no reason"})${restarts}`;
}

function describeEvent({ type, reason, message, involvedObject }: CoreV1Event): string {
  return `${type ?? ""} ${reason ?? ""} on ${involvedObject.kind ?? ""} ${involvedObject.name ?? ""}: ${message ?? ""}`;
}
