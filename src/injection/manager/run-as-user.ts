/** Chooses the user of the manager's container. */
import { annotationsOf } from "../../kubernetes/pod.ts";
import { objectAt, type RawObject, wholeNumberAt } from "../../kubernetes/raw-json.ts";
import type { RunAsUserChoice } from "../../policy/fields.ts";

/**
 * Neither root nor 65532, the user of most distroless images, because some limits of the kernel apply per user to all Pods of a
 * node. The number is also the manager's default port.
 */
const MANAGER_USER = 17_890;

/** OpenShift assigns each project a range of users, and refuses Pods with other users. */
export const OPENSHIFT_USER_RANGE = "openshift.io/sa.scc.uid-range";
/** The security context constraint that admitted the Pod; OpenShift sets it before webhooks are called. */
const OPENSHIFT_CONSTRAINT = "openshift.io/scc";

type UserInput = {
  readonly pod: RawObject;
  readonly namespaceAnnotations: RawObject;
  readonly choice: RunAsUserChoice;
  /** Owner of the driver's Unix socket. */
  readonly socketUser: number | undefined;
};

export function chooseManagerUser({ pod, namespaceAnnotations, choice, socketUser }: UserInput): number | undefined {
  if (typeof choice === "number") return choice;
  if (socketUser !== undefined) return socketUser;
  const isAssignedByOpenShift =
    Object.hasOwn(namespaceAnnotations, OPENSHIFT_USER_RANGE) || OPENSHIFT_CONSTRAINT in annotationsOf(pod);
  if (choice === "auto" && !isAssignedByOpenShift) return MANAGER_USER;
  // Without a user of its own the manager would inherit root from a Pod that runs as root, and runAsNonRoot would prevent its start.
  const podUser = wholeNumberAt(objectAt(objectAt(pod, "spec"), "securityContext"), "runAsUser");
  return podUser === 0 ? MANAGER_USER : undefined;
}
