/** Classifies a container's own preStop hook: a sleep, a hook that Istio rewrote, or a hook that the manager can run. */
import { containerNamed } from "../../kubernetes/pod.ts";
import {
  isRawObject,
  listAt,
  objectAt,
  objectsAt,
  type RawObject,
  textAt,
  valueAt,
  wholeNumberAt,
} from "../../kubernetes/raw-json.ts";
import { portNumberOf } from "../mesh/ports.ts";
import { type HookScript, parseHookCommand } from "./hook-script.ts";

/** Returns the sleeps and signals of a hook; `undefined` for a hook with any other effect. */
export function parseHook(handler: RawObject): HookScript | undefined {
  if (Object.keys(handler).length !== 1) return undefined;
  const sleep = objectAt(handler, "sleep");
  if (sleep !== undefined) {
    const seconds = wholeNumberAt(sleep, "seconds");
    return seconds !== undefined && seconds >= 0 ? { sleepSeconds: seconds, signals: [] } : undefined;
  }
  const command = listAt(objectAt(handler, "exec"), "command");
  return command.length > 0 && command.every((word) => typeof word === "string")
    ? parseHookCommand(command)
    : undefined;
}

/** Seconds that the hook sleeps, rounded up; `undefined` for any other hook. */
export function sleepSecondsOf(handler: RawObject): number | undefined {
  const script = parseHook(handler);
  return script?.signals.length === 0 ? script.sleepSeconds : undefined;
}

/** A sleep of 0 s is the usual way to write "no hook". */
export function isNoHook(handler: RawObject): boolean {
  return valueAt(handler, "sleep") !== undefined && sleepSecondsOf(handler) === 0;
}

export function sleepHandler(seconds: number): RawObject {
  return { sleep: { seconds } };
}

export function kindOfHook(handler: RawObject): string {
  for (const kind of ["exec", "httpGet", "tcpSocket", "sleep"]) if (objectAt(handler, kind) !== undefined) return kind;
  return "unknown";
}

export type HookTarget = { readonly path: string; readonly port: number };

export function isRewrittenByIstio(handler: RawObject, container: string): boolean {
  return textAt(objectAt(handler, "httpGet"), "path") === rewrittenPathOf(container);
}

/** Returns the target to which Istio's agent forwards the hook of a container; `undefined` if the target is unknown. */
export type FindRewrittenTarget = (container: string) => HookTarget | undefined;

export function createTargetFinder(pod: RawObject): FindRewrittenTarget {
  const variables = objectsAt(containerNamed(pod, "istio-proxy"), "env");
  const probersJson = textAt(
    variables.find((variable) => textAt(variable, "name") === "ISTIO_KUBE_APP_PROBERS"),
    "value",
  );
  // Most Pods have no Istio proxy, and a failing JSON.parse would take a tenth of a small admission's time.
  const probers = probersJson === undefined ? undefined : parseJsonObject(probersJson);
  return (container) => {
    const action = objectAt(objectAt(probers, rewrittenPathOf(container)), "httpGet");
    const port = wholeNumberAt(action, "port");
    return port === undefined ? undefined : { path: textAt(action, "path") ?? "", port };
  };
}

function rewrittenPathOf(container: string): string {
  return `/app-lifecycle/${container}/prestopz`;
}

function parseJsonObject(text: string): RawObject | undefined {
  try {
    return objectAt({ probers: JSON.parse(text) }, "probers");
  } catch {
    return undefined;
  }
}

/** A container's own hook, which the manager runs after the drain and before it responds to the container's hold. */
export type ChainedHook =
  | {
      readonly httpGet: {
        readonly port: number;
        readonly path: string;
        readonly httpHeaders?: readonly unknown[];
      };
    }
  | { readonly sleep: { readonly seconds: number } };

/** With longer sleeps the grace period could exceed 32 bits. */
const LONGEST_CHAINED_SLEEP_SECONDS = 1_000_000;

export function toChainedHook(
  container: RawObject,
  handler: RawObject,
  sleepSeconds: number | undefined,
): ChainedHook | undefined {
  if (sleepSeconds !== undefined)
    return sleepSeconds <= LONGEST_CHAINED_SLEEP_SECONDS ? { sleep: { seconds: sleepSeconds } } : undefined;
  const httpGet = objectAt(handler, "httpGet");
  // A hook with a host sends its request to that host; the manager connects to loopback only.
  if (httpGet === undefined || Object.keys(handler).length !== 1 || (textAt(httpGet, "host") ?? "") !== "")
    return undefined;
  const port = portNumberOf(container, httpGet["port"]);
  if (port === undefined) return undefined;
  // The manager does not run HTTPS hooks, so the container keeps its own hook.
  if ((textAt(httpGet, "scheme") ?? "HTTP") !== "HTTP") return undefined;
  const path = textAt(httpGet, "path") ?? "/";
  const httpHeaders = listAt(httpGet, "httpHeaders");
  return {
    httpGet: {
      port,
      path: path.startsWith("/") ? path : `/${path}`,
      ...(httpHeaders.length === 0 ? {} : { httpHeaders }),
    },
  };
}

/** Maximum time of all chained hooks: the duration of each sleep, and 5 s for each HTTP request. */
export function chainSeconds(chain: Readonly<Record<string, ChainedHook>>): number {
  return Object.values(chain).reduce(
    (sum, hook) => sum + ("sleep" in hook ? hook.sleep.seconds : CHAINED_GET_SECONDS),
    0,
  );
}

const CHAINED_GET_SECONDS = 5;

export function isChainedHook(value: unknown): value is ChainedHook {
  if (!isRawObject(value)) return false;
  if ((wholeNumberAt(objectAt(value, "sleep"), "seconds") ?? -1) >= 0) return true;
  const httpGet = objectAt(value, "httpGet");
  return wholeNumberAt(httpGet, "port") !== undefined && typeof httpGet?.["path"] === "string";
}
