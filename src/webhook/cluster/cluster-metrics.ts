/** Exports metrics of the caches and of recorded Events. */
import { Counter, Gauge, type Registry } from "prom-client";
import { EVENT_RESULTS, type EventResult } from "../../api-server/event-recorder.ts";
import { METRICS } from "../metric-table.ts";

/** Values of a metric label. They stay stable. */
const CACHES = ["namespaces", "nodes", "limitranges", "events"] as const;
export type CacheName = (typeof CACHES)[number];

type CacheReading = {
  readonly ageSeconds: number;
  readonly isStale: boolean;
  readonly entries: number;
};

type ClusterMetrics = {
  readonly countList: (cache: CacheName) => void;
  readonly countFailure: (cache: CacheName) => void;
  readonly countEvent: (result: EventResult) => void;
};

export function createClusterMetrics(
  registry: Registry,
  readCache: (cache: CacheName) => CacheReading | undefined,
): ClusterMetrics {
  const registers = [registry];
  const addGauge = (
    metric: "cacheAge" | "cacheStale" | "cacheEntries",
    value: (reading: CacheReading) => number,
  ): void => {
    new Gauge({
      ...METRICS[metric],
      registers,
      collect() {
        for (const cache of CACHES) {
          const reading = readCache(cache);
          if (reading !== undefined) this.set({ cache }, value(reading));
        }
      },
    });
  };
  addGauge("cacheAge", (reading) => reading.ageSeconds);
  addGauge("cacheStale", (reading) => Number(reading.isStale));
  addGauge("cacheEntries", (reading) => reading.entries);
  const lists = new Counter({ ...METRICS.cacheLists, registers });
  const failures = new Counter({ ...METRICS.cacheFailures, registers });
  const events = new Counter({ ...METRICS.events, registers });
  for (const cache of CACHES) {
    lists.inc({ cache }, 0);
    failures.inc({ cache }, 0);
  }
  for (const result of EVENT_RESULTS) events.inc({ result }, 0);
  return {
    countList: (cache) => lists.inc({ cache }),
    countFailure: (cache) => failures.inc({ cache }),
    countEvent: (result) => events.inc({ result }),
  };
}
