/** Lists every metric of a server that the chart installs, from the code that registers them. */
import type { Registry } from "prom-client";
import type { Ca } from "../../src/authority/certificate.ts";
import { SKIP_REASONS, type SkipReason } from "../../src/injection/outcome.ts";
import { identityRecorder } from "../../src/relay/identity/identity-runner.ts";
import { addGauge, drainMetrics, sliceMetrics, threadMetrics } from "../../src/relay/metrics.ts";
import { refusalCounter } from "../../src/relay/server/guard.ts";
import type { OutcomeName } from "../../src/webhook/admission-outcome.ts";
import { addAuthorityGauges, eventRecorder } from "../../src/webhook/certificates/event-recorder.ts";
import { createClusterMetrics } from "../../src/webhook/cluster/cluster-metrics.ts";
import { addEnforcementGauges } from "../../src/webhook/enforcement/enforcement-runner.ts";
import { createLog } from "../../src/webhook/log.ts";
import { createMetrics } from "../../src/webhook/metrics.ts";
import { someDrain, someReport } from "../drain-history/some-drain.ts";

export type ServedMetric = {
  readonly labels: readonly string[];
  /** The values of each label; empty for a label with unpredictable values. */
  readonly values: ReadonlyMap<string, ReadonlySet<string>>;
};

/** A record instead of a list, so that the compiler reports a missing outcome. */
const OUTCOMES: Readonly<Record<OutcomeName, true>> = {
  injected: true,
  skipped: true,
  refused: true,
  checked: true,
  malformed: true,
  too_large: true,
  fault: true,
};

/** Returns metrics by series name; a histogram exports three series. */
export async function readServedMetrics(): Promise<ReadonlyMap<string, ServedMetric>> {
  const registry = createWebhookRegistry();
  const served = new Map<string, ServedMetric>();
  for (const metric of await registry.getMetricsAsJSON()) {
    const { name, type } = metric;
    const { labelNames: labels = [] } = registry.getSingleMetric(name) as { readonly labelNames?: readonly string[] };
    const values = new Map(
      labels.map((label) => [label, new Set(metric.values.map((value) => String(value.labels[label])))]),
    );
    // prom-client's types declare the metric type as a number, but it is a string at run time.
    if (String(type) !== "histogram") served.set(name, { labels, values });
    else
      for (const suffix of ["_bucket", "_sum", "_count"])
        served.set(name + suffix, seriesOf(suffix, { labels, values }));
  }
  return served;
}

function seriesOf(suffix: string, metric: ServedMetric): ServedMetric {
  return suffix === "_bucket" ? { ...metric, labels: [...metric.labels, "le"] } : metric;
}

function createWebhookRegistry(): Registry {
  const metrics = createMetrics();
  const { registry } = metrics;
  for (const outcome of Object.keys(OUTCOMES) as OutcomeName[])
    metrics.record({ outcome, reason: "none", mode: "none", dryRun: false }, [], 0);
  for (const reason of Object.keys(SKIP_REASONS))
    metrics.record({ outcome: "skipped", reason: reason as SkipReason, mode: "none", dryRun: false }, [], 0);
  createClusterMetrics(registry, () => ({ ageSeconds: 0, isStale: false, entries: 0 }));
  eventRecorder(createLog("silent", { write: () => undefined }), registry);
  addAuthorityGauges(registry, () => ({ leafValidUntilMs: 0, signer: { validUntilMs: 0 } as Ca, isInSync: true }));
  addEnforcementGauges(registry, () => ({ isEnforcing: true, why: "", reason: "none" }));
  sliceMetrics(registry, () => 0);
  addGauge("streams", registry, () => 0);
  for (const metric of ["refused", "drainReportsRefused"] as const) refusalCounter(registry, metric);
  identityRecorder({ info: () => undefined, warn: () => undefined }, registry, () => true);
  const { countDrain } = drainMetrics(registry);
  for (const outcome of ["blind", "forced", "lost"] as const)
    countDrain(someDrain({ report: { ...someReport(), outcome } }));
  threadMetrics(registry);
  addGauge("heapUsed", registry, () => 0);
  return registry;
}
