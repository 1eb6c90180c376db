/** What watching slices costs, as seen from outside. */
import { Counter, Gauge, type Registry } from "prom-client";

export type SliceMeters = { readonly countEvent: () => void; readonly countFailure: () => void };

export function sliceMeters(registry: Registry, watchedNamespaces: () => number): SliceMeters {
  const registers = [registry];
  new Gauge({
    name: "lastcall_relay_watched_namespaces",
    help: "Namespaces whose EndpointSlices are being watched.",
    registers,
    collect() {
      this.set(watchedNamespaces());
    },
  });
  const events = new Counter({
    name: "lastcall_relay_slice_events_total",
    help: "Changes of EndpointSlices that were received.",
    registers,
  });
  const failures = new Counter({
    name: "lastcall_relay_watch_failures_total",
    help: "Lists and watches of EndpointSlices that failed.",
    registers,
  });
  return { countEvent: () => events.inc(), countFailure: () => failures.inc() };
}
