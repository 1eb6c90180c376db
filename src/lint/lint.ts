/** Lists the rules and runs them on a set of manifests. */
import { objectAt, type RawObject } from "../kubernetes/raw-json.ts";
import { type LocatedObject, type ManifestSet, podsOf } from "./manifest-set.ts";
import type { Rule, Violation } from "./rule.ts";
import { BUDGET_BLOCKS_EVICTION, ROLLOUT_STOPS_ALL } from "./rules/availability.ts";
import { KEPT_STREAMS, NO_TIME_FOR_ENDPOINTS } from "./rules/endpoints.ts";
import { GRACE_BELOW_INGRESS_TIMEOUT, NO_GRACE, SLEEP_EXCEEDS_GRACE } from "./rules/grace.ts";
import { HOOK_PORT, HOOK_TCP_SOCKET, HOOK_WITHOUT_SHELL } from "./rules/hooks.ts";
import { LIVENESS_KILLS, NO_READINESS } from "./rules/probes.ts";
import { LASTCALL_SETTING } from "./rules/settings.ts";
import { SHELL_HIDES_SIGNALS, STOP_SIGNAL } from "./rules/signals.ts";

export type Finding = Violation & { readonly rule: Rule };

export function lint(set: ManifestSet): readonly Finding[] {
  return RULES.flatMap((rule) =>
    rule.check(set).flatMap((violation) => (isSilenced(violation, rule.id) ? [] : [{ ...violation, rule }])),
  );
}

/** Prefix of annotations that silence a rule: the rest of the key is the rule's id, the value is the reason. */
const SILENCE_PREFIX = "ignore-check.lastcall.dev/";

function isSilenced({ at }: Violation, id: string): boolean {
  return [at.object, ...podsOf(at).map(({ pod }) => pod)].some((object) =>
    Object.hasOwn(annotationsOf(object), SILENCE_PREFIX + id),
  );
}

function annotationsOf(object: LocatedObject["object"]): RawObject {
  return objectAt(objectAt(object, "metadata"), "annotations") ?? {};
}

export const RULES: readonly Rule[] = [
  NO_TIME_FOR_ENDPOINTS,
  NO_GRACE,
  SLEEP_EXCEEDS_GRACE,
  GRACE_BELOW_INGRESS_TIMEOUT,
  LIVENESS_KILLS,
  SHELL_HIDES_SIGNALS,
  STOP_SIGNAL,
  ROLLOUT_STOPS_ALL,
  NO_READINESS,
  BUDGET_BLOCKS_EVICTION,
  HOOK_TCP_SOCKET,
  HOOK_PORT,
  HOOK_WITHOUT_SHELL,
  KEPT_STREAMS,
  LASTCALL_SETTING,
];
