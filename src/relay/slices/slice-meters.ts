/** What watching slices costs, as seen from outside. */
import { Counter, Gauge, type Registry } from "prom-client";
import { METRICS } from "../metric-table.ts";

type SliceMeters = { readonly countEvent: () => void; readonly countFailure: () => void };

export function sliceMeters(registry: Registry, watchedNamespaces: () => number): SliceMeters {
  const registers = [registry];
  new Gauge({
    ...METRICS.watchedNamespaces,
    registers,
    collect() {
      this.set(watchedNamespaces());
    },
  });
  const events = new Counter({ ...METRICS.sliceEvents, registers });
  const failures = new Counter({ ...METRICS.watchFailures, registers });
  return { countEvent: () => events.inc(), countFailure: () => failures.inc() };
}
