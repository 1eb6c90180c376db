/**
 * The process as Prometheus expects to see it. The package's own set is not used: it watches every garbage collection
 * and the event loop all the time, which costs more than the admissions of a quiet cluster.
 */
import { Counter, Gauge, type Registry } from "prom-client";
import { METRICS, type Metric } from "./metric-table.ts";

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

export function addProcessMetrics(registry: Registry): void {
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
