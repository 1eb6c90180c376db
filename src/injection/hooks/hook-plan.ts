/** Plans the preStop hook of each container, and reports containers that keep their own hook. */
import type { HookRole } from "../../contract/drain-settings.ts";
import type { DriverName } from "../../contract/driver-table.ts";
import { containersOf, nameOf } from "../../kubernetes/pod.ts";
import { objectAt, type RawObject } from "../../kubernetes/raw-json.ts";
import type { PodPolicy } from "../../policy/fields.ts";
import type { Problem } from "../../policy/problem.ts";
import { quote } from "../../policy/quote.ts";
import { isMeshProxy } from "../mesh/mesh.ts";
import { findKnownHook } from "./known-hooks.ts";
import { type ChainedHook, isNoHook, kindOfHook, sleepSecondsOf, toChainedHook } from "./own-hooks.ts";

export type HookPlan =
  | {
      readonly kind: "hold";
      readonly container: string;
      readonly role: HookRole;
      /** The container's own handler, which the injected hook replaces. */
      readonly replaced: RawObject | undefined;
      /** Duration of the replaced sleep, which is a lower bound of the drain delay. */
      readonly replacedSleepSeconds: number;
      readonly chained: ChainedHook | undefined;
    }
  | {
      readonly kind: "keep";
      readonly container: string;
      readonly role: HookRole;
      /** Kind of the hook that stays, such as `exec`; empty for a sleep of 0 s. */
      readonly ownHookKind: string;
    }
  /** The setting `containers` does not include the container. */
  | { readonly kind: "leave"; readonly container: string; readonly role: HookRole };

/**
 * Returns one plan per regular container. Native sidecars do not get a plan, because the kubelet runs their hooks at the start of the
 * termination.
 *
 * @param driver of the injected manager; `none` without a manager
 */
export function planHooks(
  pod: RawObject,
  policy: PodPolicy,
  chosenNames: ReadonlySet<string>,
  driver: DriverName,
): readonly HookPlan[] {
  return containersOf(pod).map((container) => {
    const name = nameOf(container);
    const role: HookRole = isMeshProxy(pod, container) ? "mesh-proxy" : "app";
    const handler = objectAt(objectAt(container, "lifecycle"), "preStop");
    if (!chosenNames.has(name)) return { kind: "leave", container: name, role };
    const hold: HookPlan = {
      kind: "hold",
      container: name,
      role,
      replaced: handler,
      replacedSleepSeconds: 0,
      chained: undefined,
    };
    return handler === undefined ? hold : planOwnHook({ pod, container, handler, policy, driver }, hold);
  });
}

export function hasOnlyOwnHooks(hooks: readonly HookPlan[]): boolean {
  return hooks.some((hook) => hook.kind === "keep") && !hooks.some((hook) => hook.kind === "hold");
}

type OwnHook = {
  readonly pod: RawObject;
  readonly container: RawObject;
  readonly handler: RawObject;
  readonly policy: PodPolicy;
  readonly driver: DriverName;
};

function planOwnHook(
  { pod, container, handler, policy, driver }: OwnHook,
  hold: Extract<HookPlan, { kind: "hold" }>,
): HookPlan {
  const keep = { kind: "keep", container: hold.container, role: hold.role } as const;
  if (isNoHook(handler)) return { ...keep, ownHookKind: "" };
  const known = findKnownHook(pod, container, handler, driver);
  // The injected hook keeps a mesh proxy running until the app has exited, so the proxy's own sleep does not count.
  const replacedSleepSeconds = hold.role === "mesh-proxy" ? 0 : (known?.sleepSeconds ?? 0);
  switch (policy.preStop) {
    case "replace":
      return { ...hold, replacedSleepSeconds };
    case "chain": {
      const chained = toChainedHook(container, handler, sleepSecondsOf(handler));
      return chained === undefined ? { ...keep, ownHookKind: kindOfHook(handler) } : { ...hold, chained };
    }
    case "auto":
      return known === undefined ? { ...keep, ownHookKind: kindOfHook(handler) } : { ...hold, replacedSleepSeconds };
    case "keep":
      return { ...keep, ownHookKind: kindOfHook(handler) };
  }
}

type ChosenContainers = { readonly names: ReadonlySet<string>; readonly problems: readonly Problem[] };

export function chooseContainers(pod: RawObject, policy: PodPolicy, where: string): ChosenContainers {
  const regularNames = new Set(containersOf(pod).map(nameOf));
  const knownNames = new Set(policy.containers.filter((name) => regularNames.has(name)));
  const unknownNames = policy.containers.filter((name) => !regularNames.has(name));
  const expectedNames = [...regularNames].join(", ").slice(0, 100);
  const problems = unknownNames.map((name): Problem => {
    const message = `${quote(name)} is not a regular container of the Pod; expected one of ${expectedNames}.`;
    return { code: "unknown_container", where: `${where}, lastcall.dev/containers`, message };
  });
  return { names: knownNames.size > 0 ? knownNames : regularNames, problems };
}

export function keptHookProblems(hooks: readonly HookPlan[], policy: PodPolicy, where: string): readonly Problem[] {
  return hooks.flatMap((hook) => {
    if (hook.kind !== "keep" || hook.ownHookKind === "") return [];
    const message = `Keeps its own preStop ${hook.ownHookKind} hook, so the drain cannot delay its stop signal.${remedyText(hook.ownHookKind, policy)}`;
    return [{ code: "own_hook_kept", where: `${where}, container ${hook.container}`, message } as const];
  });
}

function remedyText(hookKind: string, policy: PodPolicy): string {
  if (policy.preStop === "replace") return "";
  const canChain = (hookKind === "httpGet" || hookKind === "sleep") && policy.preStop !== "chain";
  return ` Set lastcall.dev/prestop: ${canChain ? "chain or " : ""}replace.`;
}
