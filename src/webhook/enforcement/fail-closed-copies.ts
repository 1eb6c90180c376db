/** Copies the webhooks of a configuration with failurePolicy Fail. Pure. */
import { objectAt, objectsAt, type RawObject, textAt } from "../../kubernetes/raw-json.ts";
import { STATUS_ANNOTATION } from "../../policy/fields.ts";

/**
 * Unknown fields are copied too. API servers evaluate matchConditions on the Pod as changed by earlier webhooks, so the copies
 * review only Pods that the originals did not inject.
 */
export function failClosedCopies(originals: readonly RawObject[]): readonly RawObject[] {
  return originals.filter(isMutateWebhook).map((webhook) => ({
    ...webhook,
    failurePolicy: "Fail",
    matchConditions: [...objectsAt(webhook, "matchConditions"), NOT_INJECTED_YET],
  }));
}

function isMutateWebhook(webhook: RawObject): boolean {
  return textAt(objectAt(objectAt(webhook, "clientConfig"), "service"), "path") === "/mutate";
}

export function haveCaBundles(webhooks: readonly RawObject[]): boolean {
  return (
    webhooks.length > 0 &&
    webhooks.every((webhook) => (textAt(objectAt(webhook, "clientConfig"), "caBundle") ?? "") !== "")
  );
}

/** A ValidatingAdmissionPolicy of the chart refuses copies without this condition. */
export const NOT_INJECTED_YET = {
  name: "not-injected-yet",
  expression: `!has(object.metadata.annotations) || !('${STATUS_ANNOTATION}' in object.metadata.annotations)`,
};
