/** What the caches and Events look like from outside; read at each scrape. */
import { Counter, Gauge, type Registry } from "prom-client";
import { EVENT_RESULTS, type EventResult } from "../../api-server/event-sender.ts";

/** The caches by name; the names are labels and never change. */
const CACHES = ["namespaces", "nodes", "limitranges"] as const;
export type CacheName = (typeof CACHES)[number];

export type CacheReading = {
  /** Since the API server last said anything about it, or since the start. */
  readonly ageSeconds: number;
  readonly stale: boolean;
  readonly entries: number;
};

export type ClusterMeters = {
  readonly listed: (cache: CacheName) => void;
  readonly failed: (cache: CacheName) => void;
  readonly event: (result: EventResult) => void;
};

export function clusterMeters(registry: Registry, read: (cache: CacheName) => CacheReading): ClusterMeters {
  const registers = [registry];
  const gauge = (name: string, help: string, value: (reading: CacheReading) => number): void => {
    new Gauge({
      name,
      help,
      labelNames: ["cache"],
      registers,
      collect() {
        for (const cache of CACHES) this.set({ cache }, value(read(cache)));
      },
    });
  };
  gauge("lastcall_cache_age_seconds", "Since the API server last said anything about it.", (at) => at.ageSeconds);
  gauge("lastcall_cache_stale", "1 when it is too old to be believed.", (at) => Number(at.stale));
  gauge("lastcall_cache_entries", "Objects of which something is kept.", (at) => at.entries);
  const labelNames = ["cache"];
  const lists = new Counter({ name: "lastcall_cache_lists_total", help: "Whole lists read.", labelNames, registers });
  const failures = new Counter({
    name: "lastcall_cache_failures_total",
    help: "Lists and watches that failed.",
    labelNames,
    registers,
  });
  const events = new Counter({
    name: "lastcall_events_total",
    help: "Notes to owners of Pods, by what became of them; all but sent and repeated are lost.",
    labelNames: ["result"],
    registers,
  });
  for (const cache of CACHES) {
    lists.inc({ cache }, 0);
    failures.inc({ cache }, 0);
  }
  for (const result of EVENT_RESULTS) events.inc({ result }, 0);
  return {
    listed: (cache) => lists.inc({ cache }),
    failed: (cache) => failures.inc({ cache }),
    event: (result) => events.inc({ result }),
  };
}
