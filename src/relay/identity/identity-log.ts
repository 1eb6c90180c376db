/** Logs and counts the events of the relay's identity. */
import { Counter, Gauge, type Registry } from "prom-client";
import { METRICS } from "../metric-table.ts";
import type { IdentityEvent } from "./reconciler.ts";

export type IdentityLog = {
  readonly info: (keys: object, sentence: string) => void;
  readonly warn: (keys: object, sentence: string) => void;
};

export type IdentityTeller = {
  readonly event: (event: IdentityEvent) => void;
  /** A look failed; the same failure is told again after a while. `nowMs` is monotonic. */
  readonly failed: (error: unknown, nowMs: number) => void;
  readonly succeeded: () => void;
};

const REPEAT_MS = 600_000;

/** @param isReady whether Pods can be given the relay now */
export function identityTeller(log: IdentityLog, registry: Registry, isReady: () => boolean): IdentityTeller {
  const registers = [registry];
  const failures = new Counter({ ...METRICS.identityFailures, registers });
  new Gauge({
    ...METRICS.identityReady,
    registers,
    collect() {
      this.set(isReady() ? 1 : 0);
    },
  });
  let told = { message: "", atMs: 0 };
  return {
    event: (event) => {
      if (event.kind === "secret-written") log.info(event.reason, "wrote the relay's Secret");
      else if (event.kind === "secret-errors")
        log.warn({ damage: event.errors }, "the relay's Secret is damaged; what is good in it is kept");
      else if (event.kind === "lost")
        log.warn(
          { generations: event.generations },
          "the relay's Secret lost CAs that Pods were given; until they are made again those Pods drain without the relay",
        );
    },
    failed: (error, nowMs) => {
      failures.inc();
      const message = error instanceof Error ? error.message : String(error);
      if (message === told.message && nowMs - told.atMs < REPEAT_MS) return;
      told = { message, atMs: nowMs };
      log.warn({ why: message, ready: isReady() }, "looking after the relay's Secret failed");
    },
    succeeded: () => {
      told = { message: "", atMs: 0 };
    },
  };
}
