import { NAME_LIST_LIMIT, PORT_LIST_LIMIT } from "./codecs.ts";

/** A user's mistake, or a limit that affects a user's Pod. Problems are collected and reported, never thrown. */
export type Problem = {
  /** Never renamed, because the code is a documented value of metric labels. */
  readonly code: ProblemCode;
  /** The place, such as `namespace shop, lastcall.dev/drain-delay`. */
  readonly where: string;
  /** A full sentence with the value and the remedy; printable, at most 200 characters. */
  readonly message: string;
};

export const PROBLEMS = {
  bad_value:
    "an annotation or setting has an invalid value; the value of the namespace, else of the cluster, else the default applies",
  list_too_long: `a list has more than ${PORT_LIST_LIMIT} ports, the limit of one program argument, or more than ${NAME_LIST_LIMIT} containers; the list counts as an invalid value`,
  unknown_annotation:
    "an annotation with the prefix lastcall.dev/ is unknown; the message names the first 20 and the number of the others",
  unknown_label: "a label with the prefix lastcall.dev/ is unknown",
  wrong_scope: "an annotation is set on an object where it has no effect",
  unknown_profile: "the profile is neither built in nor in the cluster configuration",
  conflicting_values: "two values exclude each other; the message names the one that is ignored",
  unsupported_mode: "the mode of lastcall.dev/mode requires a newer Kubernetes version; the default mode is used",
  own_hook_kept: "a container keeps its own preStop hook, so the drain cannot delay its stop signal",
  unknown_container: "an annotation names a container that the Pod does not have",
  long_grace: "the grace period is longer than cluster-autoscaler waits by default",
  short_notice: "the Pod may run on spot or preemptible nodes, which stop before the end of its grace period",
  no_headroom: "pod-level resources leave no room for the manager's requests, so its container has no requests",
  mesh_captures_port:
    "a mesh's init container exists already, so lastcall cannot exclude the manager's port from the mesh's redirection",
  original_too_large: "the record of the original hooks exceeds 4 KiB; hooks that do not fit in it were not replaced",
  manager_repaired: "another webhook removed restartPolicy: Always from the manager; lastcall restored it",
  namespace_unknown:
    "the namespace's annotations could not be read in time; the defaults of the cluster configuration are used",
  limit_range: "a LimitRange of the namespace changes the manager's resources, or leaves no room for the manager",
  socket_unmounted: "no container mounts the directory of the driver's Unix socket",
  preload_left_out:
    "a container does not load the preload library although the Pod requests it; the message gives the reason",
  not_injected: "a Pod with valid settings was not injected; the message gives the reason and the remedy",
  more_problems: "the Pod has more problems than the 50 that are shown; the message gives the number of the others",
} as const;

export type ProblemCode = keyof typeof PROBLEMS;
