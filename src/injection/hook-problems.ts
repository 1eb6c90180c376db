/** What a person should know about the containers' hooks. */
import { containersOf, nameOf } from "../kubernetes/pod.ts";
import type { RawObject } from "../kubernetes/raw-json.ts";
import type { PodPolicy } from "../policy/pod-policy.ts";
import type { Problem } from "../policy/problem.ts";
import { quote } from "../policy/quote.ts";
import type { HookPlan } from "./hook-plan.ts";

export type ChosenContainers = { readonly names: ReadonlySet<string>; readonly problems: readonly Problem[] };

/** The regular containers that `containers` names; all of them when it names none that exists. */
export function chosenContainers(pod: RawObject, policy: PodPolicy, where: string): ChosenContainers {
  const regular = new Set(containersOf(pod).map(nameOf));
  const known = new Set(policy.containers.filter((name) => regular.has(name)));
  const unknown = policy.containers.filter((name) => !regular.has(name));
  const existing = [...regular].join(", ").slice(0, 100);
  const problems = unknown.map((name): Problem => {
    const message = `No regular container is named ${quote(name)}; there are ${existing}.`;
    return { code: "unknown_container", where: `${where}, lastcall.dev/containers`, message };
  });
  return { names: known.size > 0 ? known : regular, problems };
}

/** One problem per container that is not held because it keeps its hook. */
export function keptHookProblems(hooks: readonly HookPlan[], policy: PodPolicy, where: string): readonly Problem[] {
  return hooks.flatMap((hook) => {
    if (hook.kind !== "keep" || hook.hook === "") return [];
    const message = `It keeps its own ${hook.hook} preStop and is not held by the drain${alternatives(hook.hook, policy)}.`;
    return [{ code: "own_hook_kept", where: `${where}, container ${hook.container}`, message } as const];
  });
}

function alternatives(hook: string, policy: PodPolicy): string {
  if (policy.preStop === "replace") return "";
  const canChain = (hook === "httpGet" || hook === "sleep") && policy.preStop !== "chain";
  return `; lastcall.dev/prestop: ${canChain ? "chain or " : ""}replace would change that`;
}
