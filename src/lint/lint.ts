/** All rules over one set of manifests. */
import { objectAt, type RawObject } from "../kubernetes/raw-json.ts";
import { type Located, type ManifestSet, podsOf } from "./manifest-set.ts";
import type { Rule, Violation } from "./rule.ts";
import { RULES } from "./rules.ts";

export type Finding = Violation & { readonly rule: Rule };

/** Findings in the order of the table. */
export function lint(set: ManifestSet): readonly Finding[] {
  return RULES.flatMap((rule) =>
    rule.check(set).flatMap((violation) => (isSilenced(violation, rule.id) ? [] : [{ ...violation, rule }])),
  );
}

/** In front of a rule's id, as an annotation; its value is the reason. */
export const SILENCED_BY = "ignore-check.lastcall.dev/";

/** On the object that is named, or on the Pod template in it. */
function isSilenced({ at }: Violation, id: string): boolean {
  return [at.object, ...podsOf(at).map(({ pod }) => pod)].some((object) =>
    Object.hasOwn(annotations(object), SILENCED_BY + id),
  );
}

function annotations(object: Located["object"]): RawObject {
  return objectAt(objectAt(object, "metadata"), "annotations") ?? {};
}
