/** Streams and refused requests, as seen from outside. */
import { Counter, Gauge, type Registry } from "prom-client";
import { METRICS } from "../metric-table.ts";
import { REFUSALS, type RefusalReason } from "./refusal.ts";

type WithdrawalMeters = { readonly countRefusal: (reason: RefusalReason) => void };

export function withdrawalMeters(registry: Registry, openStreams: () => number): WithdrawalMeters {
  const registers = [registry];
  new Gauge({
    ...METRICS.streams,
    registers,
    collect() {
      this.set(openStreams());
    },
  });
  const refused = new Counter({ ...METRICS.refused, registers });
  for (const reason of Object.keys(REFUSALS)) refused.inc({ reason }, 0);
  return { countRefusal: (reason) => refused.inc({ reason }) };
}
