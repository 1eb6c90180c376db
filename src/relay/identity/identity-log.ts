/** Logs and counts the events of the relay's identity. */
import { Counter, Gauge, type Registry } from "prom-client";
import { createFailureFilter } from "../../authority/reconcile.ts";
import { METRICS } from "../metric-table.ts";
import type { IdentityEvent } from "./reconciler.ts";

export type IdentityLog = {
  readonly info: (keys: object, sentence: string) => void;
  readonly warn: (keys: object, sentence: string) => void;
};

export type IdentityRecorder = {
  readonly recordEvent: (event: IdentityEvent) => void;
  /** `nowMs` is monotonic. */
  readonly recordFailure: (error: unknown, nowMs: number) => void;
  readonly recordSuccess: () => void;
};

/** @param isReady whether Pods can be given the relay now */
export function identityRecorder(log: IdentityLog, registry: Registry, isReady: () => boolean): IdentityRecorder {
  const registers = [registry];
  const failures = new Counter({ ...METRICS.identityFailures, registers });
  new Gauge({
    ...METRICS.identityReady,
    registers,
    collect() {
      this.set(isReady() ? 1 : 0);
    },
  });
  const filter = createFailureFilter();
  return {
    recordEvent: (event) => {
      if (event.kind === "secret-written") log.info(event.reason, "wrote the relay's Secret");
      else if (event.kind === "secret-errors")
        log.warn({ damage: event.errors }, "the relay's Secret is damaged; what is good in it is kept");
      else if (event.kind === "lost")
        log.warn(
          { generations: event.generations },
          "the relay's Secret lost CAs that Pods were given; until they are made again those Pods drain without the relay",
        );
    },
    recordFailure: (error, nowMs) => {
      failures.inc();
      const message = error instanceof Error ? error.message : String(error);
      if (filter.isDue(message, nowMs))
        log.warn({ why: message, ready: isReady() }, "looking after the relay's Secret failed");
    },
    recordSuccess: filter.reset,
  };
}
