/** Streams and refused requests, as seen from outside. */
import { Counter, Gauge, type Registry } from "prom-client";
import { REFUSALS, type RefusalReason } from "./refusal.ts";

export type WithdrawalMeters = { readonly countRefusal: (reason: RefusalReason) => void };

export function withdrawalMeters(registry: Registry, openStreams: () => number): WithdrawalMeters {
  const registers = [registry];
  new Gauge({
    name: "lastcall_relay_streams",
    help: "Drains that are being told about their withdrawal now.",
    registers,
    collect() {
      this.set(openStreams());
    },
  });
  const refused = new Counter({
    name: "lastcall_relay_refused_total",
    help: "Questions about a withdrawal that were refused, by why.",
    labelNames: ["reason"],
    registers,
  });
  for (const reason of Object.keys(REFUSALS)) refused.inc({ reason }, 0);
  return { countRefusal: (reason) => refused.inc({ reason }) };
}
