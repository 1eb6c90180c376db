/** Logs and counts events of the webhook's CAs, and exports the expiry of certificates. */
import { Counter, Gauge, type Registry } from "prom-client";
import type { Log } from "../log.ts";
import { METRICS } from "../metric-table.ts";
import type { WriteReason } from "./decide.ts";
import type { AuthorityEvent, AuthorityStatus } from "./reconciler.ts";

const LOG_MESSAGES: Readonly<Record<WriteReason, string>> = {
  begin: "created the webhook's CA",
  repair: "repaired the Secret of --ca-secret",
  rotate: "created the webhook's next CA",
  promote: "promoted the next CA to signer of the webhook's certificates",
  drop: "removed a retired CA whose certificates have expired",
};

export function eventRecorder(log: Log, registry: Registry): (event: AuthorityEvent) => void {
  const patches = new Counter({ ...METRICS.cabundlePatches, registers: [registry] });
  patches.inc({ result: "done" }, 0);
  patches.inc({ result: "conflict" }, 0);
  return (event) => {
    if (event.kind === "secret-written") log.info({ reason: event.reason }, LOG_MESSAGES[event.reason]);
    else if (event.kind === "secret-errors")
      log.warn({ errors: event.errors }, "the Secret of --ca-secret has invalid entries");
    else if (event.kind === "bundle-written") {
      patches.inc({ result: "done" });
      log.info({ cas: event.cas }, "caBundle written");
    } else {
      if (event.on === "configuration") patches.inc({ result: "conflict" });
      log.debug({ on: event.on }, "write conflict, retrying");
    }
  };
}

export type Expiry = { readonly leafMs: number | undefined; readonly caMs?: number | undefined };

export function addExpiryGauge(registry: Registry, expiry: () => Expiry): void {
  new Gauge({
    ...METRICS.certificateNotAfter,
    registers: [registry],
    collect() {
      const { leafMs, caMs } = expiry();
      if (leafMs !== undefined) this.set({ kind: "leaf" }, leafMs / 1_000);
      if (caMs !== undefined) this.set({ kind: "ca" }, caMs / 1_000);
    },
  });
}

export function addAuthorityGauges(registry: Registry, status: () => AuthorityStatus): void {
  addExpiryGauge(registry, () => ({ leafMs: status().leafValidUntilMs, caMs: status().signer?.validUntilMs }));
  new Gauge({
    ...METRICS.cabundleInSync,
    registers: [registry],
    collect() {
      this.set(status().isInSync ? 1 : 0);
    },
  });
}
