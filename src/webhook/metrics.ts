/** How admissions went, on a registry of its own. */
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { Entry } from "./admission-outcome.ts";
import { REFUSALS, type Refusal } from "./intake/refusals.ts";
import { METRICS, type Metric } from "./metric-table.ts";

/** In seconds. Ours take well under a millisecond; the API server gives up after 30 s at the latest. */
const DURATION_BUCKETS_SECONDS: readonly number[] = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5,
];

export type Meters = {
  readonly record: (entry: Entry, problems: readonly string[], seconds: number) => void;
  readonly countRefusal: (reason: Refusal) => void;
  /** The text format of Prometheus. */
  readonly render: () => Promise<string>;
  readonly contentType: string;
  /** For the metrics of parts that do not always run. */
  readonly registry: Registry;
};

/** With the metrics of a part that keeps its own, which it is asked for first: how that went is a metric too. */
export function withMore(meters: Meters, more: () => Promise<string>): Meters {
  return {
    ...meters,
    render: async () => {
      const theirs = await more();
      return (await meters.render()) + theirs;
    },
  };
}

export function createMeters(): Meters {
  const registry = new Registry();
  const registers = [registry];
  const admissions = new Counter({ ...METRICS.admissions, registers });
  const duration = new Histogram({ ...METRICS.duration, buckets: [...DURATION_BUCKETS_SECONDS], registers });
  const problemCounter = new Counter({ ...METRICS.problems, registers });
  const refused = new Counter({ ...METRICS.refused, registers });
  // Shown before the first one, so that its growth is seen.
  for (const reason of Object.keys(REFUSALS)) refused.inc({ reason }, 0);
  addProcessMetrics(registry);
  // Hashing four labels for every request costs more than the addition; the combinations are few.
  const counters = new Map<string, Counter.Internal>();
  const counterOf = (entry: Entry): Counter.Internal => {
    const key = `${entry.outcome} ${entry.reason} ${entry.mode} ${entry.dryRun}`;
    const known = counters.get(key);
    if (known !== undefined) return known;
    const { outcome, reason, mode, dryRun } = entry;
    const counter = admissions.labels({ outcome, reason, mode, dry_run: String(dryRun) });
    counters.set(key, counter);
    return counter;
  };
  return {
    record: (entry, problems, seconds) => {
      counterOf(entry).inc();
      duration.observe(seconds);
      for (const code of problems) problemCounter.inc({ code });
    },
    countRefusal: (reason) => refused.inc({ reason }),
    render: () => registry.metrics(),
    contentType: registry.contentType,
    registry,
  };
}

/**
 * The process as Prometheus expects to see it. The package's own set is not used: it watches every garbage collection
 * and the event loop all the time, which costs more than the admissions of a quiet cluster.
 */
type Row = { readonly metric: Metric; readonly read: () => number };

const ROWS: readonly Row[] = [
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
  for (const { metric, read } of ROWS) {
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
