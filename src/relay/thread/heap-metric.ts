/** How much of what its heap may hold the relay's thread uses; the process's own figure is of the admissions' thread. */
import { Gauge, type Registry } from "prom-client";

/** Once per registry. */
export function addHeapMetric(registry: Registry): void {
  new Gauge({
    name: "lastcall_relay_heap_used_bytes",
    help: "Used part of the JavaScript heap of the relay's thread, in bytes.",
    registers: [registry],
    collect() {
      this.set(process.memoryUsage().heapUsed);
    },
  });
}
