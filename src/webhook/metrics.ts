/** Records the webhook's metrics on its own registry. */
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { MetricLabels } from "./admission-outcome.ts";
import { REFUSALS, type Refusal } from "./intake/refusals.ts";
import { METRICS, type Metric } from "./metric-table.ts";

/** Admissions usually take less than 1 ms; the API server times out after at most 30 s. */
const DURATION_BUCKETS_SECONDS: readonly number[] = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5,
];

export type WebhookMetrics = {
  readonly record: (metricLabels: MetricLabels, problems: readonly string[], seconds: number) => void;
  readonly countRefusal: (reason: Refusal) => void;
  readonly render: () => Promise<string>;
  readonly contentType: string;
  readonly registry: Registry;
};

/** Appends the metrics of another thread. They are read first, because this thread's metrics count a failure to read them. */
export function withThreadMetrics(metrics: WebhookMetrics, readThreadMetrics: () => Promise<string>): WebhookMetrics {
  return {
    ...metrics,
    render: async () => {
      const threadMetrics = await readThreadMetrics();
      return (await metrics.render()) + threadMetrics;
    },
  };
}

export function createMetrics(): WebhookMetrics {
  const registry = new Registry();
  const registers = [registry];
  const admissionCounter = new Counter({ ...METRICS.admissions, registers });
  const durationHistogram = new Histogram({ ...METRICS.duration, buckets: [...DURATION_BUCKETS_SECONDS], registers });
  const problemCounter = new Counter({ ...METRICS.problems, registers });
  const refusalCounter = new Counter({ ...METRICS.refused, registers });
  // Zero values make the first increase visible to `rate()`.
  for (const reason of Object.keys(REFUSALS)) refusalCounter.inc({ reason }, 0);
  addProcessMetrics(registry);
  // A cache, because hashing four labels takes longer than the increment, and only a few combinations exist.
  const counters = new Map<string, Counter.Internal>();
  const counterOf = (metricLabels: MetricLabels): Counter.Internal => {
    const key = `${metricLabels.outcome} ${metricLabels.reason} ${metricLabels.mode} ${metricLabels.dryRun}`;
    const existing = counters.get(key);
    if (existing !== undefined) return existing;
    const { outcome, reason, mode, dryRun } = metricLabels;
    const counter = admissionCounter.labels({ outcome, reason, mode, dry_run: String(dryRun) });
    counters.set(key, counter);
    return counter;
  };
  return {
    record: (metricLabels, problems, seconds) => {
      counterOf(metricLabels).inc();
      durationHistogram.observe(seconds);
      for (const code of problems) problemCounter.inc({ code });
    },
    countRefusal: (reason) => refusalCounter.inc({ reason }),
    render: () => registry.metrics(),
    contentType: registry.contentType,
    registry,
  };
}

type ProcessGauge = { readonly metric: Metric; readonly read: () => number };

/**
 * Process metrics under their usual names. prom-client's default metrics also observe every garbage collection and the event
 * loop, which takes more CPU time than the admissions of an idle cluster.
 */
const PROCESS_GAUGES: readonly ProcessGauge[] = [
  {
    metric: METRICS.residentMemory,
    read: () => process.memoryUsage.rss(),
  },
  {
    metric: METRICS.uptime,
    read: () => process.uptime(),
  },
  {
    metric: METRICS.heapUsed,
    read: () => process.memoryUsage().heapUsed,
  },
];

function addProcessMetrics(registry: Registry): void {
  const registers = [registry];
  for (const { metric, read } of PROCESS_GAUGES) {
    new Gauge({
      ...metric,
      registers,
      collect() {
        this.set(read());
      },
    });
  }
  new Counter({
    ...METRICS.cpu,
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1e6);
    },
  });
}
