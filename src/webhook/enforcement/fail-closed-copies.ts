/** Copies the webhooks of a configuration with failurePolicy Fail. Pure. */
import { objectAt, objectsAt, type RawObject, textAt } from "../../kubernetes/raw-json.ts";
import { STATUS_ANNOTATION } from "../../policy/fields.ts";

/**
 * Unknown fields are copied too. API servers evaluate matchConditions on the Pod as changed by earlier webhooks, so the copies
 * review only Pods that the originals did not inject.
 */
export function failClosedCopies(open: readonly RawObject[]): readonly RawObject[] {
  return open.filter(injects).map((entry) => ({
    ...entry,
    failurePolicy: "Fail",
    matchConditions: [...objectsAt(entry, "matchConditions"), NOT_INJECTED_YET],
  }));
}

function injects(entry: RawObject): boolean {
  return textAt(objectAt(objectAt(entry, "clientConfig"), "service"), "path") === "/mutate";
}

export function haveCaBundles(entries: readonly RawObject[]): boolean {
  return (
    entries.length > 0 && entries.every((entry) => (textAt(objectAt(entry, "clientConfig"), "caBundle") ?? "") !== "")
  );
}

/** A ValidatingAdmissionPolicy of the chart refuses copies without this condition. */
export const NOT_INJECTED_YET = {
  name: "not-injected-yet",
  expression: `!has(object.metadata.annotations) || !('${STATUS_ANNOTATION}' in object.metadata.annotations)`,
};
