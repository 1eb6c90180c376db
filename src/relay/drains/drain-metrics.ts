/** What reported drains look like from outside. */
import { Counter, Histogram, type Registry } from "prom-client";
import type { PhaseDurations } from "../../contract/drain-report.ts";
import type { DrainRecord, RecordedOutcome } from "../../drain-history/drain-record.ts";
import { RECORDED_OUTCOMES } from "../../drain-history/read-notice.ts";
import { METRICS } from "../metric-table.ts";

/** Every way a report is refused; a label of the metric. */
const REFUSALS = ["credential", "namespace", "rate_limited", "too_large", "malformed"] as const;
export type Refused = (typeof REFUSALS)[number];

const PHASES: readonly (keyof PhaseDurations)[] = ["withdrawing", "deregistration", "draining", "holding"];

/** In seconds: from a Pod with nothing open to one that waits for hours for its queue. */
const PHASE_BUCKETS_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 900, 3_600];
const LEFT_BUCKETS = [0, 1, 2, 5, 10, 25, 50, 100, 250, 1_000, 10_000];

/** Outcomes whose alerts fire on one drain: who is called has to know where. */
const INCOMPLETE: readonly RecordedOutcome[] = ["blind", "forced", "lost"];
/** Each namespace is up to three series, as long as the replica lives. */
export const NAMESPACES_LIMIT = 100;
/** No namespace can have this name. */
const OTHER_NAMESPACES = "_other";

export type DrainMeters = {
  readonly drained: (record: DrainRecord) => void;
  readonly refused: (reason: Refused) => void;
};

/** Once per registry. */
export function drainMeters(registry: Registry): DrainMeters {
  const registers = [registry];
  const drains = new Counter({ ...METRICS.drains, registers });
  const incomplete = new Counter({ ...METRICS.incompleteDrains, registers });
  const namespaces = new Set<string>();
  const phases = new Histogram({ ...METRICS.drainPhase, buckets: PHASE_BUCKETS_SECONDS, registers });
  const left = new Histogram({ ...METRICS.drainConnectionsLeft, buckets: LEFT_BUCKETS, registers });
  const refusals = new Counter({ ...METRICS.drainReportsRefused, registers });
  for (const outcome of RECORDED_OUTCOMES) drains.inc({ outcome }, 0);
  for (const phase of PHASES) phases.zero({ phase });
  for (const reason of REFUSALS) refusals.inc({ reason }, 0);
  const labelOf = (namespace: string): string => {
    if (namespaces.size < NAMESPACES_LIMIT) namespaces.add(namespace);
    return namespaces.has(namespace) ? namespace : OTHER_NAMESPACES;
  };
  return {
    drained: ({ namespace, report }) => {
      const { outcome } = report;
      drains.inc({ outcome });
      if (INCOMPLETE.includes(outcome)) incomplete.inc({ outcome, pod_namespace: labelOf(namespace) });
      // Nothing was drained, or the durations are unknown: zeros would make all drains look shorter.
      if (outcome === "restarted" || outcome === "lost") return;
      for (const phase of PHASES) phases.observe({ phase }, report.milliseconds[phase] / 1_000);
      left.observe(report.leftTotal);
    },
    refused: (reason) => refusals.inc({ reason }),
  };
}
