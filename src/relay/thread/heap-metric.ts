/** How much of what its heap may hold the relay's thread uses; the process's own figure is of the admissions' thread. */
import { Gauge, type Registry } from "prom-client";
import { METRICS } from "../metric-table.ts";

/** Once per registry. */
export function addHeapMetric(registry: Registry): void {
  new Gauge({
    ...METRICS.heapUsed,
    registers: [registry],
    collect() {
      this.set(process.memoryUsage().heapUsed);
    },
  });
}
