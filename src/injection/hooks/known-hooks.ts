/** Recognises preStop hooks that can be replaced, because the drain and the container's stop signal have the same effect. */
import { type DriverName, driverRow } from "../../contract/driver-table.ts";
import { containersOf } from "../../kubernetes/pod.ts";
import { listAt, objectAt, type RawObject, textAt } from "../../kubernetes/raw-json.ts";
import { portNumberOf } from "../mesh/ports.ts";
import { parseHook } from "./own-hooks.ts";
import { stopSignalOf } from "./stop-signals.ts";

export type KnownHook = {
  /** A sentence for `explain`. */
  readonly reason: string;
  readonly sleepSeconds: number;
};

/** @param driver of the injected manager; `none` without a manager */
export function findKnownHook(
  pod: RawObject,
  container: RawObject,
  handler: RawObject,
  driver: DriverName,
): KnownHook | undefined {
  const shutdownManager = SHUTDOWN_MANAGERS.find((row) => row.isHook(pod, container, handler));
  if (shutdownManager !== undefined) {
    const { needsEnvoyDriver, reason } = shutdownManager;
    return needsEnvoyDriver && driverRow(driver).envoyKind !== "any" ? undefined : { reason, sleepSeconds: 0 };
  }
  const script = parseHook(handler);
  if (script === undefined) return undefined;
  const { sleepSeconds, signals } = script;
  if (signals.length === 0) return { reason: "It only sleeps.", sleepSeconds };
  const stopSignal = stopSignalOf(container);
  if (stopSignal === undefined || signals.some((signal) => signal !== stopSignal)) return undefined;
  return { reason: `It sends ${stopSignal}, the container's stop signal.`, sleepSeconds };
}

type ShutdownManager = {
  readonly program: string;
  /** Names of the hooks in the reference page. */
  readonly hooks: readonly string[];
  /** Whether the hook can be replaced only with Envoy's driver, without which Envoy would not close its connections. */
  readonly needsEnvoyDriver: boolean;
  readonly reason: string;
  readonly isHook: (pod: RawObject, container: RawObject, handler: RawObject) => boolean;
};

/** Facts of ingress-nginx (March 2026), Contour 1.33.8 and Envoy Gateway 1.9.1. */
export const SHUTDOWN_MANAGERS: readonly ShutdownManager[] = [
  {
    program: "ingress-nginx",
    hooks: ["/wait-shutdown"],
    needsEnvoyDriver: false,
    reason: "ingress-nginx's /wait-shutdown sends the controller SIGTERM, the container's stop signal.",
    isHook: (_pod, _container, handler) => isCommand(handler, ["/wait-shutdown"], 1),
  },
  {
    program: "Contour",
    hooks: ["contour envoy shutdown", "GET /shutdown"],
    needsEnvoyDriver: true,
    reason: "Contour's shutdown manager is not needed: lastcall's driver drains Envoy.",
    isHook: (pod, container, handler) =>
      isCommand(handler, ["contour", "envoy", "shutdown"]) ||
      (isGet(container, handler, "/shutdown") && runsCommand(pod, ["contour", "envoy", "shutdown-manager"])),
  },
  {
    program: "Envoy Gateway",
    hooks: ["envoy-gateway envoy shutdown", "GET /shutdown/ready"],
    needsEnvoyDriver: true,
    reason: "Envoy Gateway's shutdown manager is not needed: lastcall's driver drains Envoy.",
    isHook: (pod, container, handler) =>
      isCommand(handler, ["envoy-gateway", "envoy", "shutdown"]) ||
      (isGet(container, handler, "/shutdown/ready") &&
        runsCommand(pod, ["envoy-gateway", "envoy", "shutdown-manager"])),
  },
];

/** Whether the hook is an exec of these words, with any flags after them unless the number of words is limited. */
function isCommand(handler: RawObject, words: readonly string[], limit = Number.POSITIVE_INFINITY): boolean {
  if (Object.keys(handler).length !== 1) return false;
  const command = listAt(objectAt(handler, "exec"), "command");
  return command.length <= limit && startsWith(command, words);
}

function isGet(container: RawObject, handler: RawObject, path: string): boolean {
  const httpGet = objectAt(handler, "httpGet");
  if (httpGet === undefined || Object.keys(handler).length !== 1) return false;
  return textAt(httpGet, "path") === path && portNumberOf(container, httpGet["port"]) !== undefined;
}

function runsCommand(pod: RawObject, words: readonly string[]): boolean {
  return containersOf(pod).some((container) =>
    startsWith([...listAt(container, "command"), ...listAt(container, "args")], words),
  );
}

/** Compares the first word without its folder. */
function startsWith(command: readonly unknown[], [program = "", ...words]: readonly string[]): boolean {
  const [first, ...rest] = command;
  if (typeof first !== "string" || (first !== program && !first.endsWith(`/${program}`))) return false;
  return words.every((word, index) => rest[index] === word);
}
