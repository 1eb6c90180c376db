/**
 * A restart policy beside the template, as in Kubeflow's jobs, is written into the Pods by their operator. The decision is
 * made about the Pod that will run; the template keeps what it says.
 */
import type { PodPlace } from "../kubernetes/pod-template.ts";
import { isRawObject, objectAt, type RawObject, valueAt, without } from "../kubernetes/raw-json.ts";

export function podAsMade({ pod, restartPolicy }: PodPlace): RawObject {
  const spec = objectAt(pod, "spec");
  return restartPolicy === undefined || spec === undefined ? pod : { ...pod, spec: { ...spec, restartPolicy } };
}

/** The changed Pod as its template: without what {@link podAsMade} has added. */
export function asTemplate(place: PodPlace, changed: object): object {
  if (podAsMade(place) === place.pod || !isRawObject(changed)) return changed;
  const spec = objectAt(changed, "spec") ?? {};
  const own = valueAt(objectAt(place.pod, "spec"), "restartPolicy");
  return {
    ...changed,
    spec: own === undefined ? without(spec, "restartPolicy") : { ...spec, restartPolicy: own },
  };
}
