/** Plans sleep mode: the kubelet's sleep action delays every container; no manager runs in the Pod. */
import { annotationsOf, DEFAULT_GRACE_SECONDS } from "../../kubernetes/pod.ts";
import { isAbsent } from "../../kubernetes/raw-json.ts";
import { STATUS_ANNOTATION } from "../../policy/fields.ts";
import type { Problem } from "../../policy/problem.ts";
import { GRACE_LIMIT_SECONDS, graceProblems } from "../hooks/grace.ts";
import { chooseContainers, type HookPlan, keptHookProblems, planHooks } from "../hooks/hook-plan.ts";
import { sleepHandler } from "../hooks/own-hooks.ts";
import { type Edit, emptyParents, probeEntry } from "../record/edit.ts";
import { formatRecord, type OriginalRecord, replacedAnnotations, replacedHandlers } from "../record/original-record.ts";
import { formatSleepStatus } from "../record/sleep-status.ts";
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
import { notPreloaded } from "./preload-plan.ts";
import { drainDelayMs } from "./settings.ts";

export function planSleep(request: PlanRequest): Plan {
  const status = annotationsOf(request.pod)[STATUS_ANNOTATION];
  // An annotation whose value is not a string stays, and cannot contain the status. Without the status, a later admission would treat
  // this sleep hook as the user's own.
  if (!isAbsent(status) && typeof status !== "string") return { kind: "skip", reason: "invalid_pod", problems: [] };
  return planWithinSizeBudget(request.where, (omissions) => draftSleep(request, omissions));
}

function draftSleep(request: PlanRequest, omissions: Omissions): Draft {
  const { pod, where } = request;
  const policy = { ...request.policy, preStop: preStopChoice(request, omissions) };
  const chosen = chooseContainers(pod, policy, where);
  const hooks = planHooks(pod, policy, chosen.names, "none");
  const heldContainers = hooks.flatMap((hook) => (hook.kind === "hold" ? [hook.container] : []));
  const original = originalGrace(request);
  const originalSeconds = original ?? DEFAULT_GRACE_SECONDS;
  const seconds = sleepSeconds({ ...request, policy }, hooks, originalSeconds);
  const grace = atLeastExisting(pod, originalSeconds + seconds);
  const probes = omissions.leavesProbes ? [] : probeGraceEdits(pod, originalSeconds);
  const changes: readonly Edit[] = [
    ...heldContainers.map((container): Edit => ({ kind: "set-pre-stop", container, handler: sleepHandler(seconds) })),
    { kind: "set-grace", seconds: grace },
    ...probes,
  ];
  const record: OriginalRecord = {
    grace: original,
    probes: probes.map(probeEntry),
    pullSecrets: [],
    preStop: replacedHandlers(pod, heldContainers),
    chain: {},
    annotations: replacedAnnotations(annotationsOf(pod), [STATUS_ANNOTATION]),
    empty: emptyParents(pod, [...changes, { kind: "annotate", values: {} }], original),
  };
  const recordText = formatRecord(record);
  const plan = (): Plan => {
    const problems = [...chosen.problems, ...keptHookProblems(hooks, policy, where), ...preloadProblems(request)];
    if (heldContainers.length === 0) return { kind: "skip", reason: "own_hooks", problems };
    if (seconds === 0) return { kind: "skip", reason: "up_to_date", problems };
    const values = { [STATUS_ANNOTATION]: formatSleepStatus({ seconds, hooks: heldContainers, recordText }) };
    const edits: readonly Edit[] = [...changes, { kind: "annotate", values }];
    return { kind: "edits", edits, problems: [...problems, ...graceProblems(pod, grace, where)] };
  };
  return { recordText, plan };
}

function preloadProblems({ policy, where }: PlanRequest): readonly Problem[] {
  if (policy.preload === "disabled") return [];
  return [
    notPreloaded(
      where,
      "The preload library requires a manager, and mode sleep does not add one. Use mode native or classic.",
    ),
  ];
}

/** Without a manager hooks cannot be chained, so `chain` becomes `auto`: sleep hooks are replaced, other hooks stay. */
function preStopChoice({ policy }: PlanRequest, omissions: Omissions): PlanRequest["policy"]["preStop"] {
  if (omissions.keepsHooks) return "keep";
  return policy.preStop === "chain" ? "auto" : policy.preStop;
}

/** Returns drain delay plus deregistration delay, limited by the maximum grace period. */
function sleepSeconds({ policy }: PlanRequest, hooks: readonly HookPlan[], originalSeconds: number): number {
  const neededSeconds = Math.ceil((drainDelayMs(policy, hooks) + policy.deregistrationDelayMs) / 1_000);
  return Math.min(neededSeconds, Math.max(0, GRACE_LIMIT_SECONDS - originalSeconds));
}
