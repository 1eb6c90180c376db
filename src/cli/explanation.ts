/** Why one workload gets what it gets, as data: `explain --json` prints it as it is. */

import type { DrainSettings } from "../contract/drain-settings.ts";
import { MANAGER_CONTAINER } from "../contract/manager-environment.ts";
import { parseServeFlags } from "../contract/serve-flags.ts";
import { containersOf, initContainersOf, nameOf } from "../kubernetes/pod.ts";
import { isRawObject, listAt } from "../kubernetes/raw-json.ts";
import { ANNOTATIONS, FIELDS, type Field, type PodPolicy, type Row } from "../policy/annotation-table.ts";
import { type GraceArithmetic, graceArithmetic } from "./grace-arithmetic.ts";
import { FLAG_LAYER } from "./policy-flags.ts";
import { type Moment, sleepTimeline, timelineOf } from "./timeline.ts";
import type { Decision } from "./transform.ts";
import { graceOf, outcomeText, type WorkloadReport } from "./workload-report.ts";

export type ExplainedValue = { readonly name: string; readonly value: string; readonly origin: string };

export type WorkloadExplanation = {
  readonly workload: WorkloadReport;
  /** One sentence. */
  readonly decision: string;
  readonly values: readonly ExplainedValue[];
  /** Absent where nothing is injected, like the next two. */
  readonly grace?: GraceArithmetic;
  readonly timeline?: readonly Moment[];
  readonly holds?: readonly string[];
  /** What lastcall cannot promise for this Pod. */
  readonly limit?: string;
};

export function explain(decision: Decision): WorkloadExplanation {
  const { report, outcome } = decision;
  const base = { workload: report, decision: outcomeText(report), values: valuesOf(decision) };
  const pod = outcome.kind === "patched" ? outcome.pod : decision.pod;
  const settings = settingsIn(pod);
  const afterSeconds = graceOf(pod);
  if (settings !== undefined) {
    const grace = graceArithmetic(settings, afterSeconds);
    const holds = settings.hooks.map(({ container, role }) => `${container} (${role})`);
    return { ...base, grace, holds, timeline: timelineOf(settings, afterSeconds), ...limitOf(settings) };
  }
  if (outcome.kind !== "patched") return base;
  const { drainDelayMs, deregistrationDelayMs } = outcome.explanation.policy;
  const timeline = sleepTimeline(drainDelayMs + deregistrationDelayMs, afterSeconds);
  return { ...base, timeline, limit: SLEEP_LIMIT };
}

const SLEEP_LIMIT =
  "Mode sleep waits a fixed time and looks at nothing: requests that are still open when it ends are the app's to finish.";

function limitOf(settings: DrainSettings): { readonly limit: string } | Record<string, never> {
  if (settings.driver !== "none") return {};
  return {
    limit:
      "No driver is set, so nothing can send a client away that keeps sending on a kept connection: the drain then waits to its deadline, " +
      "names the clients that stayed, and one racing request per such connection can be lost when the app closes it. " +
      "An Envoy or mesh proxy, or the driver http with drain-url (the app then answers Connection: close), removes this limit.",
  };
}

/** The manager's own flags, wherever its container stands. */
function settingsIn(pod: object): DrainSettings | undefined {
  if (!isRawObject(pod)) return undefined;
  const manager = [...initContainersOf(pod), ...containersOf(pod)].find((c) => nameOf(c) === MANAGER_CONTAINER);
  const [command, ...flags] = listAt(manager, "args").map(String);
  return command === "serve" ? parseServeFlags(flags).settings : undefined;
}

function valuesOf({ explanation }: Decision): readonly ExplainedValue[] {
  return FIELDS.map((field) => ({
    name: ANNOTATIONS[field].name,
    value: textOf(field, explanation.policy),
    origin: explanation.origin[field].replace(`pod ${FLAG_LAYER}`, FLAG_LAYER),
  }));
}

function textOf<K extends Field>(field: K, policy: PodPolicy): string {
  const row: Row<PodPolicy[K]> = ANNOTATIONS[field];
  const value = row.codec.format(policy[field]);
  return value === "" ? (row.fallbackShows ?? "–") : value;
}
