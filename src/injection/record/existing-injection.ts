/** Finds an injection that the webhook or the command line made earlier in a Pod. */
import { VARIABLES } from "../../contract/manager-environment.ts";
import { parseServeFlags } from "../../contract/serve-flags.ts";
import { type ContainerList, containersOf, DEFAULT_GRACE_SECONDS, nameOf } from "../../kubernetes/pod.ts";
import { isSameJson, listAt, objectAt, objectsAt, type RawObject, textAt, valueAt } from "../../kubernetes/raw-json.ts";
import { gracePeriodSeconds } from "../hooks/grace.ts";
import { chainSeconds, isRewrittenByIstio, sleepHandler } from "../hooks/own-hooks.ts";
import { environmentValue, isManager, serveFlagsOf } from "../manager/container.ts";
import { type OriginalRecord, parseRecord } from "./original-record.ts";
import { type ExistingPreload, findPreload } from "./preload-in-pod.ts";
import { readSleepStatus } from "./sleep-status.ts";

type ExistingManager = {
  readonly list: ContainerList;
  readonly at: number;
  readonly container: RawObject;
  readonly token: string | undefined;
  readonly port: number;
};

export type ExistingInjection = {
  readonly manager: ExistingManager | undefined;
  readonly record: OriginalRecord;
  /** The grace period that injection set, in seconds. Any other value in the Pod was set by another program. */
  readonly grace: number;
  /** lastcall's handlers by container, including the API server's defaults. */
  readonly handlers: ReadonlyMap<string, RawObject>;
  readonly preload: ExistingPreload | undefined;
};

export function findExistingInjection(pod: RawObject): ExistingInjection | undefined {
  return findManager(pod) ?? findSleep(pod);
}

function findManager(pod: RawObject): ExistingInjection | undefined {
  for (const list of ["initContainers", "containers"] as const) {
    const containers = listAt(objectAt(pod, "spec"), list);
    const at = containers.findIndex((container) => typeof container === "object" && isManagerObject(container));
    if (at >= 0) return injectionOfManager(pod, list, at, containers[at] as RawObject);
  }
  return undefined;
}

function isManagerObject(container: unknown): boolean {
  return container !== null && !Array.isArray(container) && isManager(container as RawObject);
}

function injectionOfManager(pod: RawObject, list: ContainerList, at: number, container: RawObject): ExistingInjection {
  const { settings } = parseServeFlags(serveFlagsOf(container).filter(isUsedFlag));
  const token = environmentValue(container, VARIABLES.token);
  const record = parseRecord(environmentValue(container, VARIABLES.original) ?? "") ?? {
    grace: Math.floor(settings.appGraceMs / 1_000),
    probes: [],
    pullSecrets: [],
    preStop: {},
    chain: {},
    annotations: {},
    empty: {},
  };
  const heldContainers = new Set(settings.hooks.map((hook) => hook.container));
  const handlers = containersOf(pod).flatMap((candidate) => {
    const handler = objectAt(objectAt(candidate, "lifecycle"), "preStop");
    const name = nameOf(candidate);
    const isOurs = handler !== undefined && isOurHold(handler, name, settings.port, heldContainers.has(name));
    return isOurs ? [[name, handler] as const] : [];
  });
  return {
    manager: {
      list,
      at,
      container,
      token: token !== undefined && TOKEN_FORM.test(token) ? token : undefined,
      port: settings.port,
    },
    record,
    grace: gracePeriodSeconds(record.grace ?? DEFAULT_GRACE_SECONDS, settings, chainSeconds(record.chain)),
    handlers: new Map(handlers),
    preload: settings.preload === "disabled" ? undefined : findPreload(pod),
  };
}

/** Flags that are necessary to revert an injection. */
const USED_FLAGS: readonly string[] = [
  ...["--port", "--hooks", "--app-grace", "--drain-delay", "--deregistration-delay", "--drain-timeout"],
  "--preload",
];

/** Linux limits an argument to this length, so a manager with a longer flag cannot have started. */
const ARGUMENT_LIMIT_BYTES = 131_072;

function isUsedFlag(flag: string): boolean {
  return flag.length < ARGUMENT_LIMIT_BYTES && USED_FLAGS.some((name) => flag.startsWith(`${name}=`));
}

const TOKEN_FORM = /^[0-9A-Za-z_-]{8,128}$/;

/** Includes hooks that Istio rewrote, because Istio's agent forwards them to the manager. */
function isOurHold(handler: RawObject, container: string, port: number, isHeld: boolean): boolean {
  const httpGet = objectAt(handler, "httpGet");
  const path = textAt(httpGet, "path") ?? "";
  if (httpGet === undefined || Object.keys(handler).length !== 1) return false;
  if (isHeld && isRewrittenByIstio(handler, container)) return true;
  const [before, token = "", ...rest] = path.split("/");
  return (
    before === "" && TOKEN_FORM.test(token) && rest.join("/") === `prestop/${container}` && httpGet["port"] === port
  );
}

function findSleep(pod: RawObject): ExistingInjection | undefined {
  const status = readSleepStatus(pod);
  if (status === undefined) return undefined;
  const sleep = sleepHandler(status.seconds);
  const heldContainers = new Set(status.hooks);
  const containers = objectsAt(objectAt(pod, "spec"), "containers");
  const handlers = containers.flatMap((container) => {
    const handler = valueAt(objectAt(container, "lifecycle"), "preStop");
    return heldContainers.has(nameOf(container)) && isSameJson(handler, sleep)
      ? [[nameOf(container), sleep] as const]
      : [];
  });
  if (handlers.length === 0 || handlers.length !== status.hooks.length) return undefined;
  return {
    manager: undefined,
    record: status.record,
    grace: (status.record.grace ?? DEFAULT_GRACE_SECONDS) + status.seconds,
    handlers: new Map(handlers),
    preload: undefined,
  };
}
