/** Sleep mode: kubelet's own sleep holds every container for the delays; nothing of ours runs in the Pod. */
import { annotationsOf, DEFAULT_GRACE_SECONDS } from "../kubernetes/pod.ts";
import { isAbsent } from "../kubernetes/raw-json.ts";
import { STATUS_ANNOTATION } from "../policy/annotation-table.ts";
import { blankParents, probeEntry } from "./blank-parents.ts";
import { type Draft, type Economy, planWithinRecord } from "./economy.ts";
import type { Edit } from "./edit.ts";
import { GRACE_LIMIT_SECONDS } from "./grace.ts";
import { type HookPlan, planHooks } from "./hook-plan.ts";
import { chosenContainers, keptHookProblems } from "./hook-problems.ts";
import { drainDelayMs } from "./manager-settings.ts";
import { formatRecord, type OriginalRecord } from "./original-record.ts";
import { graceProblems } from "./plan-problems.ts";
import { atLeastStanding, originalGrace, type Plan, type PlanRequest } from "./plan-request.ts";
import { probeGraceEdits } from "./probe-grace.ts";
import { replacedAnnotations, replacedHandlers } from "./replaced-handlers.ts";
import { sleepHandler } from "./sleeping-hook.ts";
import { sleepNote } from "./status-note.ts";

export function planSleep(request: PlanRequest): Plan {
  const note = annotationsOf(request.pod)[STATUS_ANNOTATION];
  // Without the note our sleep could not be told from the user's, and the next pass would add another.
  if (!isAbsent(note) && typeof note !== "string") return { kind: "skip", reason: "invalid_pod", problems: [] };
  return planWithinRecord(request.where, (economy) => draftSleep(request, economy));
}

function draftSleep(given: PlanRequest, economy: Economy): Draft {
  const { pod, where } = given;
  const policy = { ...given.policy, preStop: preStopChoice(given, economy) };
  const chosen = chosenContainers(pod, policy, where);
  const hooks = planHooks(pod, policy, chosen.names);
  const held = hooks.flatMap((hook) => (hook.kind === "hold" ? [hook.container] : []));
  const original = originalGrace(given);
  const originalSeconds = original ?? DEFAULT_GRACE_SECONDS;
  const seconds = sleepSeconds({ ...given, policy }, hooks, originalSeconds);
  const grace = atLeastStanding(pod, originalSeconds + seconds);
  const probes = economy.leavesProbes ? [] : probeGraceEdits(pod, originalSeconds);
  const changes: readonly Edit[] = [
    ...held.map((container): Edit => ({ kind: "set-pre-stop", container, handler: sleepHandler(seconds) })),
    { kind: "set-grace", seconds: grace },
    ...probes,
  ];
  const record: OriginalRecord = {
    grace: original,
    probes: probes.map(probeEntry),
    preStop: replacedHandlers(pod, held),
    chain: {},
    annotations: replacedAnnotations(annotationsOf(pod), [STATUS_ANNOTATION]),
    blank: blankParents(pod, [...changes, { kind: "annotate", values: {} }], original),
  };
  const recordText = formatRecord(record);
  const plan = (): Plan => {
    const problems = [...chosen.problems, ...keptHookProblems(hooks, policy, where)];
    if (held.length === 0) return { kind: "skip", reason: "own_hooks", problems };
    if (seconds === 0) return { kind: "skip", reason: "up_to_date", problems };
    const values = { [STATUS_ANNOTATION]: sleepNote({ seconds, hooks: held, recordText }) };
    const edits: readonly Edit[] = [...changes, { kind: "annotate", values }];
    return { kind: "edits", edits, problems: [...problems, ...graceProblems(grace, where)] };
  };
  return { recordText, plan };
}

/** There is no manager to perform a chained hook, so it stays; one that only sleeps is as good as ours. */
function preStopChoice({ policy }: PlanRequest, economy: Economy): PlanRequest["policy"]["preStop"] {
  if (economy.keepsHooks) return "keep";
  return policy.preStop === "chain" ? "auto" : policy.preStop;
}

/** Drain delay plus deregistration delay in whole seconds; what the API server allows is below the grace period. */
function sleepSeconds({ policy }: PlanRequest, hooks: readonly HookPlan[], originalSeconds: number): number {
  const wanted = Math.ceil((drainDelayMs(policy, hooks) + policy.deregistrationDelayMs) / 1_000);
  return Math.min(wanted, Math.max(0, GRACE_LIMIT_SECONDS - originalSeconds));
}
