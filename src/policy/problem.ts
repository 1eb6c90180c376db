import { LONGEST_NAME_LIST, LONGEST_PORT_LIST } from "./codecs.ts";

/** A mistake in what a person wrote, or a limit they should know. Problems are data: collected and shown, never thrown. */
export type Problem = {
  /** Stable, documented, used in metrics. Never renamed. */
  readonly code: ProblemCode;
  /** Where to look, for example `namespace shop, lastcall.dev/drain-delay`. */
  readonly where: string;
  /** A full sentence with the offending value and what would be accepted; no control characters, ≤ 200 characters. */
  readonly message: string;
};

/** Every problem with one sentence for the reference. */
export const PROBLEMS = {
  bad_value: "an annotation or setting has a value that cannot be read; the next farther value or the default is used",
  list_too_long: `a list has more than ${LONGEST_PORT_LIST} ports, which is what fits one argument of a program, or more than ${LONGEST_NAME_LIST} containers; the next farther value or the default is used`,
  unknown_annotation:
    "an annotation under our prefix has a name that does not exist; 20 are named, the rest is counted",
  unknown_label: "a label under our prefix has a name that does not exist",
  wrong_scope: "an annotation is set where it has no effect",
  unknown_profile: "the profile named neither ships nor stands in the cluster configuration",
  conflicting_values: "two values cannot be obeyed together; the message says which one yields",
  unsupported_mode: "the mode needs a newer Kubernetes; the default is used",
  own_hook_kept: "a container keeps its own preStop hook and is not held by the drain",
  unknown_container: "a container named in an annotation does not exist in the Pod",
  long_grace: "the grace period exceeds what a known autoscaler waits for",
  short_notice: "the Pod may run on spot or preemptible nodes, which are gone before its grace period is over",
  no_headroom: "pod-level resources leave no room for the manager's requests; it gets none",
  mesh_captures_port: "a mesh's init container is already there; its port exclusions are already rendered",
  original_too_large: "what injection would have to remember exceeds 4 KiB; nothing that needs it was replaced",
  manager_repaired: "the manager container had lost its restartPolicy to another webhook and was repaired",
  namespace_unknown: "the namespace's annotations could not be read in time; the cluster's defaults are used",
  limit_range: "a LimitRange of the namespace changes what the manager gets, or leaves no room for it",
  socket_unmounted: "no container mounts the folder of the driver's Unix socket",
  preload_left_out:
    "a container does not load the library that sends kept clients away, though the Pod asks for it; the message says why",
  not_injected: "a Pod was left alone for a reason its owner should know; the message names what decided it",
  more_problems: "there are more problems than the 50 that one answer names; this one says how many",
} as const;

export type ProblemCode = keyof typeof PROBLEMS;
