/** Every metric, from registries that each part of the programs has filled. Nothing is measured. */
import { Registry } from "prom-client";
import { drainMeters } from "../relay/drains/drain-metrics.ts";
import { identityRecorder } from "../relay/identity/identity-runner.ts";
import { sliceMeters } from "../relay/slices/slice-meters.ts";
import { addHeapMetric } from "../relay/thread/heap-metric.ts";
import { threadMeters } from "../relay/thread/thread-keeper.ts";
import { withdrawalMeters } from "../relay/withdrawal/withdrawal-meters.ts";
import { addAuthorityGauges, eventRecorder } from "../webhook/certificates/event-recorder.ts";
import { clusterMeters } from "../webhook/cluster/cluster-metrics.ts";
import { addEnforcementGauges } from "../webhook/enforcement/enforcement-runner.ts";
import { createMeters } from "../webhook/metrics.ts";
import type { Log } from "../webhook/request-log.ts";
import { code, markdownTable } from "./markdown-table.ts";

/** What the package's own type leaves out. */
type MetricRow = { readonly name: string; readonly help: string; readonly labelNames?: readonly string[] };

export function webhookMetricReference(): string {
  const { registry } = createMeters();
  eventRecorder(SILENT, registry);
  addAuthorityGauges(registry, () => ({ isInSync: false, leafValidUntilMs: undefined, signer: undefined }));
  addEnforcementGauges(registry, () => ({ isEnforcing: false, why: "", reason: "none" }));
  clusterMeters(registry, () => ({ ageSeconds: 0, stale: false, entries: 0 }));
  return metricTable(registry);
}

export function relayMetricReference(): string {
  const registry = new Registry();
  threadMeters(registry);
  addHeapMetric(registry);
  identityRecorder(SILENT, registry, () => false);
  sliceMeters(registry, () => 0);
  withdrawalMeters(registry, () => 0);
  drainMeters(registry);
  return metricTable(registry);
}

const SILENT = { debug: () => {}, info: () => {}, warn: () => {} } as unknown as Log;

function metricTable(registry: Registry): string {
  const metrics = registry.getMetricsAsArray() as unknown as readonly MetricRow[];
  const rows = metrics.map((metric) => [
    code(metric.name),
    metric.constructor.name.toLowerCase(),
    (metric.labelNames ?? []).filter((label) => label !== "le").join(", ") || "–",
    metric.help,
  ]);
  return markdownTable(["metric", "type", "labels", "means"], rows);
}
