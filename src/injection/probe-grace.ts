/** Keeps restarts by failed probes as quick as they were: a raised grace period must not slow them down. */
import { lastingContainersOf, nameOf } from "../kubernetes/pod.ts";
import { isAbsent, objectAt, type RawObject, valueAt } from "../kubernetes/raw-json.ts";
import type { Edit, ProbeName } from "./edit.ts";

export type ProbeEdit = Extract<Edit, { kind: "set-probe-grace" }>;

/** Readiness probes restart nothing, and the API server refuses the field there. */
const PROBES: readonly ProbeName[] = ["livenessProbe", "startupProbe"];

export function probeGraceEdits(pod: RawObject, originalSeconds: number): readonly ProbeEdit[] {
  return lastingContainersOf(pod).flatMap((container) =>
    PROBES.filter((probe) => {
      const parts = objectAt(container, probe);
      return parts !== undefined && isAbsent(valueAt(parts, "terminationGracePeriodSeconds"));
    }).map(
      (probe): ProbeEdit => ({
        kind: "set-probe-grace",
        container: nameOf(container),
        probe,
        seconds: originalSeconds,
      }),
    ),
  );
}
