/** The user of the manager's container. */
import { annotationsOf } from "../../kubernetes/pod.ts";
import { objectAt, type RawObject, wholeNumberAt } from "../../kubernetes/raw-json.ts";
import type { RunAsUserChoice } from "../../policy/fields.ts";

/**
 * Not root, and not 65532, as which most distroless images run: the kernel bounds some things by user, over all Pods of a
 * node. It is the number of the manager's port.
 */
const OUR_USER = 17_890;

/** OpenShift gives every project a range of users; a Pod with another is refused there. */
export const OPENSHIFT_USER_RANGE = "openshift.io/sa.scc.uid-range";
/** OpenShift writes it on a Pod before webhooks are called: the constraint under which the Pod was admitted. */
const OPENSHIFT_CONSTRAINT = "openshift.io/scc";

type UserQuestion = {
  readonly pod: RawObject;
  readonly namespaceAnnotations: RawObject;
  readonly choice: RunAsUserChoice;
  /** To whom a driver's socket belongs, where one is asked. */
  readonly socketUser: number | undefined;
};

/** @returns `undefined`: none is written, and the cluster's, the Pod's or else the image's user runs the manager */
export function managerUser({ pod, namespaceAnnotations, choice, socketUser }: UserQuestion): number | undefined {
  if (typeof choice === "number") return choice;
  if (socketUser !== undefined) return socketUser;
  const isAssigned =
    Object.hasOwn(namespaceAnnotations, OPENSHIFT_USER_RANGE) || OPENSHIFT_CONSTRAINT in annotationsOf(pod);
  if (choice === "auto" && !isAssigned) return OUR_USER;
  // The manager would inherit root, and runAsNonRoot would keep it from starting.
  const ofPod = wholeNumberAt(objectAt(objectAt(pod, "spec"), "securityContext"), "runAsUser");
  return ofPod === 0 ? OUR_USER : undefined;
}
