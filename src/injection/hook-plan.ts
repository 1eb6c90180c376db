/** What happens to each container's preStop hook. */
import type { HookRole } from "../contract/drain-settings.ts";
import { containersOf, nameOf } from "../kubernetes/pod.ts";
import { listAt, objectAt, type RawObject, textAt } from "../kubernetes/raw-json.ts";
import type { PodPolicy } from "../policy/pod-policy.ts";
import { portNumberOf } from "./free-port.ts";
import { isMeshProxy } from "./mesh.ts";
import type { ChainedHook } from "./original-record.ts";
import { isNoHook, kindOfHook, sleepSecondsOf } from "./sleeping-hook.ts";

export type HookPlan =
  | {
      readonly kind: "hold";
      readonly container: string;
      readonly role: HookRole;
      /** The container's own handler, which ours stands in for. */
      readonly replaced: RawObject | undefined;
      /** The replaced hook only slept: the drain delay must be at least this. */
      readonly sleptSeconds: number;
      readonly chained: ChainedHook | undefined;
    }
  | {
      readonly kind: "keep";
      readonly container: string;
      readonly role: HookRole;
      /** Words for the message; empty when the hook says "no hook here". */
      readonly hook: string;
    }
  | { readonly kind: "leave"; readonly container: string; readonly role: HookRole };

/**
 * One entry per regular container. A container that is not among the chosen ones is left alone, and so is every
 * native sidecar: its hook would run at the start of the termination.
 */
export function planHooks(pod: RawObject, policy: PodPolicy, chosen: ReadonlySet<string>): readonly HookPlan[] {
  return containersOf(pod).map((container) => {
    const name = nameOf(container);
    const role: HookRole = isMeshProxy(pod, container) ? "mesh-proxy" : "app";
    const handler = objectAt(objectAt(container, "lifecycle"), "preStop");
    if (!chosen.has(name)) return { kind: "leave", container: name, role };
    const hold: HookPlan = {
      kind: "hold",
      container: name,
      role,
      replaced: handler,
      sleptSeconds: 0,
      chained: undefined,
    };
    return handler === undefined ? hold : planOwnHook(container, handler, policy, hold);
  });
}

/** Nothing in the Pod would wait for the drain. */
export function hasOnlyOwnHooks(hooks: readonly HookPlan[]): boolean {
  return hooks.some((hook) => hook.kind === "keep") && !hooks.some((hook) => hook.kind === "hold");
}

function planOwnHook(
  container: RawObject,
  handler: RawObject,
  policy: PodPolicy,
  hold: Extract<HookPlan, { kind: "hold" }>,
): HookPlan {
  const keep = { kind: "keep", container: hold.container, role: hold.role } as const;
  if (isNoHook(handler)) return { ...keep, hook: "" };
  const seconds = sleepSecondsOf(handler);
  // A proxy sleeps to outlive the app, which its hold does anyway; the app's own delay is not made of it.
  const sleptSeconds = seconds !== undefined && hold.role === "mesh-proxy" ? 0 : seconds;
  switch (policy.preStop) {
    case "replace":
      return { ...hold, sleptSeconds: sleptSeconds ?? 0 };
    case "chain": {
      const chained = chainable(container, handler, seconds);
      return chained === undefined ? { ...keep, hook: kindOfHook(handler) } : { ...hold, chained };
    }
    case "auto":
      return sleptSeconds === undefined ? { ...keep, hook: kindOfHook(handler) } : { ...hold, sleptSeconds };
    case "keep":
      return { ...keep, hook: kindOfHook(handler) };
  }
}

/** Longest sleep the manager performs for a container; longer ones would not fit the grace period's 32 bits. */
const LONGEST_CHAINED_SLEEP = 1_000_000;

function chainable(container: RawObject, handler: RawObject, slept: number | undefined): ChainedHook | undefined {
  if (slept !== undefined) return slept <= LONGEST_CHAINED_SLEEP ? { sleep: { seconds: slept } } : undefined;
  const httpGet = objectAt(handler, "httpGet");
  // With a host of its own the call leaves the Pod; the manager speaks to loopback only.
  if (httpGet === undefined || Object.keys(handler).length !== 1 || (textAt(httpGet, "host") ?? "") !== "")
    return undefined;
  const port = portNumberOf(container, httpGet["port"]);
  if (port === undefined) return undefined;
  // The manager has no TLS of its own; a hook it could not perform is better kept.
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
