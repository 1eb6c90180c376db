/**
 * The process as Prometheus expects to see it. The package's own set is not used: it watches every garbage collection
 * and the event loop all the time, which costs more than the admissions of a quiet cluster.
 */
import { Counter, Gauge, type Registry } from "prom-client";

type Row = { readonly name: string; readonly help: string; readonly read: () => number };

const ROWS: readonly Row[] = [
  {
    name: "process_resident_memory_bytes",
    help: "Resident memory, in bytes.",
    read: () => process.memoryUsage.rss(),
  },
  {
    name: "process_uptime_seconds",
    help: "Time since the process started, in seconds.",
    read: () => process.uptime(),
  },
  {
    name: "nodejs_heap_used_bytes",
    help: "Used part of the JavaScript heap, in bytes.",
    read: () => process.memoryUsage().heapUsed,
  },
];

export function addProcessMetrics(registry: Registry): void {
  const registers = [registry];
  for (const { name, help, read } of ROWS) {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  }
  new Counter({
    name: "process_cpu_seconds_total",
    help: "User and system CPU time spent, in seconds.",
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1e6);
    },
  });
}
