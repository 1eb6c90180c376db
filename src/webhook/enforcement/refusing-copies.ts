/** The entries of a webhook configuration as they are when they fail closed. Pure. */
import { objectAt, objectsAt, type RawObject, textAt } from "../../kubernetes/raw-json.ts";
import { STATUS_ANNOTATION } from "../../policy/fields.ts";

/**
 * Fields of later versions are copied too. Only a Pod that the open entry left without an answer, or unchanged, is asked about
 * again: API servers judge a condition by the Pod as earlier webhooks left it.
 */
export function refusingCopies(open: readonly RawObject[]): readonly RawObject[] {
  return open.filter(injects).map((entry) => ({
    ...entry,
    failurePolicy: "Fail",
    matchConditions: [...objectsAt(entry, "matchConditions"), NOT_INJECTED_YET],
  }));
}

/** The other entries only check settings. */
function injects(entry: RawObject): boolean {
  return textAt(objectAt(objectAt(entry, "clientConfig"), "service"), "path") === "/mutate";
}

/** Whether API servers can trust whom every entry names. */
export function canBeCalled(entries: readonly RawObject[]): boolean {
  return (
    entries.length > 0 && entries.every((entry) => (textAt(objectAt(entry, "clientConfig"), "caBundle") ?? "") !== "")
  );
}

/** A policy of the chart refuses copies with any other condition. */
export const NOT_INJECTED_YET = {
  name: "not-injected-yet",
  expression: `!has(object.metadata.annotations) || !('${STATUS_ANNOTATION}' in object.metadata.annotations)`,
};
