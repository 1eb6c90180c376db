/** Sleep mode: kubelet's own sleep holds every container for the delays; nothing of ours runs in the Pod. */
import { annotationsOf, DEFAULT_GRACE_SECONDS } from "../../kubernetes/pod.ts";
import { isAbsent } from "../../kubernetes/raw-json.ts";
import { STATUS_ANNOTATION } from "../../policy/fields.ts";
import type { Problem } from "../../policy/problem.ts";
import { GRACE_LIMIT_SECONDS, graceProblems } from "../hooks/grace.ts";
import { chosenContainers, type HookPlan, keptHookProblems, planHooks } from "../hooks/hook-plan.ts";
import { sleepHandler } from "../hooks/own-hooks.ts";
import { type Edit, emptyParents, probeEntry } from "../record/edit.ts";
import { formatRecord, type OriginalRecord, replacedAnnotations, replacedHandlers } from "../record/original-record.ts";
import { sleepNote } from "../record/sleep-note.ts";
import { probeGraceEdits } from "./changes.ts";
import {
  atLeastExisting,
  type Draft,
  type Omissions,
  originalGrace,
  type Plan,
  type PlanRequest,
  planWithinSizeBudget,
} from "./plan.ts";
import { leftOut } from "./preload-plan.ts";
import { drainDelayMs } from "./settings.ts";

export function planSleep(request: PlanRequest): Plan {
  const note = annotationsOf(request.pod)[STATUS_ANNOTATION];
  // Without the note our sleep could not be told from the user's, and the next pass would add another.
  if (!isAbsent(note) && typeof note !== "string") return { kind: "skip", reason: "invalid_pod", problems: [] };
  return planWithinSizeBudget(request.where, (omissions) => draftSleep(request, omissions));
}

function draftSleep(given: PlanRequest, omissions: Omissions): Draft {
  const { pod, where } = given;
  const policy = { ...given.policy, preStop: preStopChoice(given, omissions) };
  const chosen = chosenContainers(pod, policy, where);
  const hooks = planHooks(pod, policy, chosen.names);
  const held = hooks.flatMap((hook) => (hook.kind === "hold" ? [hook.container] : []));
  const original = originalGrace(given);
  const originalSeconds = original ?? DEFAULT_GRACE_SECONDS;
  const seconds = sleepSeconds({ ...given, policy }, hooks, originalSeconds);
  const grace = atLeastExisting(pod, originalSeconds + seconds);
  const probes = omissions.leavesProbes ? [] : probeGraceEdits(pod, originalSeconds);
  const changes: readonly Edit[] = [
    ...held.map((container): Edit => ({ kind: "set-pre-stop", container, handler: sleepHandler(seconds) })),
    { kind: "set-grace", seconds: grace },
    ...probes,
  ];
  const record: OriginalRecord = {
    grace: original,
    probes: probes.map(probeEntry),
    pullSecrets: [],
    preStop: replacedHandlers(pod, held),
    chain: {},
    annotations: replacedAnnotations(annotationsOf(pod), [STATUS_ANNOTATION]),
    blank: emptyParents(pod, [...changes, { kind: "annotate", values: {} }], original),
  };
  const recordText = formatRecord(record);
  const plan = (): Plan => {
    const problems = [...chosen.problems, ...keptHookProblems(hooks, policy, where), ...preloadProblems(given)];
    if (held.length === 0) return { kind: "skip", reason: "own_hooks", problems };
    if (seconds === 0) return { kind: "skip", reason: "up_to_date", problems };
    const values = { [STATUS_ANNOTATION]: sleepNote({ seconds, hooks: held, recordText }) };
    const edits: readonly Edit[] = [...changes, { kind: "annotate", values }];
    return { kind: "edits", edits, problems: [...problems, ...graceProblems(pod, grace, where)] };
  };
  return { recordText, plan };
}

/** No manager is there to tell processes when to send clients away. */
function preloadProblems({ policy, where }: PlanRequest): readonly Problem[] {
  if (policy.preload === "disabled") return [];
  return [leftOut(where, "Mode sleep has no manager that could tell its processes; modes native and classic have.")];
}

/** There is no manager to perform a chained hook, so it stays; one that only sleeps is as good as ours. */
function preStopChoice({ policy }: PlanRequest, omissions: Omissions): PlanRequest["policy"]["preStop"] {
  if (omissions.keepsHooks) return "keep";
  return policy.preStop === "chain" ? "auto" : policy.preStop;
}

/** Drain delay plus deregistration delay in whole seconds; what the API server allows is below the grace period. */
function sleepSeconds({ policy }: PlanRequest, hooks: readonly HookPlan[], originalSeconds: number): number {
  const wanted = Math.ceil((drainDelayMs(policy, hooks) + policy.deregistrationDelayMs) / 1_000);
  return Math.min(wanted, Math.max(0, GRACE_LIMIT_SECONDS - originalSeconds));
}
