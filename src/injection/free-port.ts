/** Chooses the manager's port among those that nothing in the Pod names. */
import { containersOf, initContainersOf } from "../kubernetes/pod.ts";
import { objectAt, objectsAt, type RawObject, textAt, wholeNumberAt } from "../kubernetes/raw-json.ts";

const FIRST_PORT = 17_890;
const LAST_PORT = 17_989;

/**
 * The wanted port, else the next free one of the range 17890–17989, the same for the same Pod.
 *
 * @returns `undefined` when the whole range is taken. Ports an app opens without declaring them cannot be seen.
 */
export function choosePort(pod: RawObject, wanted: number, alsoTaken: readonly number[]): number | undefined {
  const taken = declaredPorts(pod);
  for (const port of alsoTaken) taken.add(port);
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

function declaredPorts(pod: RawObject): Set<number> {
  const taken = new Set<number>();
  for (const container of [...initContainersOf(pod), ...containersOf(pod)]) {
    addContainerPorts(container, taken);
    addUsedPorts(container, taken);
  }
  return taken;
}

function addContainerPorts(container: RawObject, taken: Set<number>): void {
  for (const port of objectsAt(container, "ports")) {
    if ((textAt(port, "protocol") ?? "TCP") !== "TCP") continue;
    taken.add(wholeNumberAt(port, "containerPort") ?? 0);
    taken.add(wholeNumberAt(port, "hostPort") ?? 0);
  }
}

/** Ports of probes and hooks: something listens there even when no one declared it. */
function addUsedPorts(container: RawObject, taken: Set<number>): void {
  for (const probe of PROBES) addHandlerPorts(container, objectAt(container, probe), taken);
  const lifecycle = objectAt(container, "lifecycle");
  if (lifecycle === undefined) return;
  addHandlerPorts(container, objectAt(lifecycle, "preStop"), taken);
  addHandlerPorts(container, objectAt(lifecycle, "postStart"), taken);
}

function addHandlerPorts(container: RawObject, handler: RawObject | undefined, taken: Set<number>): void {
  if (handler === undefined) return;
  for (const action of ACTIONS) taken.add(portNumberOf(container, objectAt(handler, action)?.["port"]) ?? 0);
}

const PROBES: readonly string[] = ["livenessProbe", "readinessProbe", "startupProbe"];
const ACTIONS: readonly string[] = ["httpGet", "tcpSocket", "grpc"];
