/** Chooses the manager's port among those nobody in the Pod speaks of. */
import { containersOf, initContainersOf, lastingContainersOf } from "../kubernetes/pod.ts";
import { objectAt, objectsAt, type RawObject, textAt, wholeNumberAt } from "../kubernetes/raw-json.ts";

const FIRST_PORT = 17_890;
const LAST_PORT = 17_989;

/**
 * The wanted port, else the next free one of the range 17890–17989, the same for the same Pod.
 *
 * @returns `undefined` when the whole range is taken. Ports an app opens without declaring them cannot be seen.
 */
export function choosePort(pod: RawObject, wanted: number, alsoTaken: readonly number[]): number | undefined {
  const taken = new Set([...declaredPorts(pod), ...alsoTaken]);
  if (!taken.has(wanted)) return wanted;
  const range = Array.from({ length: LAST_PORT - FIRST_PORT + 1 }, (_, index) => FIRST_PORT + index);
  return [...range.filter((port) => port > wanted), ...range].find((port) => !taken.has(port));
}

/** The number behind a port field, which is a number or the name of one of the container's own ports. */
export function portNumberOf(container: RawObject, port: unknown): number | undefined {
  if (typeof port === "number") return Number.isSafeInteger(port) && port >= 1 && port <= 65_535 ? port : undefined;
  if (typeof port !== "string") return undefined;
  if (/^[0-9]{1,5}$/.test(port)) return portNumberOf(container, Number(port));
  const declared = objectsAt(container, "ports").find((candidate) => textAt(candidate, "name") === port);
  return declared === undefined ? undefined : portNumberOf(container, wholeNumberAt(declared, "containerPort"));
}

function declaredPorts(pod: RawObject): readonly number[] {
  const all = [...initContainersOf(pod), ...containersOf(pod)];
  return [...all.flatMap(containerPorts), ...lastingContainersOf(pod).flatMap(usedPorts)];
}

function containerPorts(container: RawObject): readonly number[] {
  return objectsAt(container, "ports")
    .filter((port) => (textAt(port, "protocol") ?? "TCP") === "TCP")
    .flatMap((port) => [wholeNumberAt(port, "containerPort") ?? 0, wholeNumberAt(port, "hostPort") ?? 0]);
}

/** Ports of probes and hooks: something listens there even when no one declared it. */
function usedPorts(container: RawObject): readonly number[] {
  const lifecycle = objectAt(container, "lifecycle");
  const handlers = [
    ...PROBES.map((probe) => objectAt(container, probe)),
    objectAt(lifecycle, "preStop"),
    objectAt(lifecycle, "postStart"),
  ];
  return handlers.flatMap((handler) =>
    ACTIONS.map((action) => portNumberOf(container, objectAt(handler, action)?.["port"]) ?? 0),
  );
}

const PROBES: readonly string[] = ["livenessProbe", "readinessProbe", "startupProbe"];
const ACTIONS: readonly string[] = ["httpGet", "tcpSocket", "grpc"];
