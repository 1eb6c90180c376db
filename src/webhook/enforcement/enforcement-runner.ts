/** Failing closed as the settings ask for it, one look after the other, with its metric and its log. */
import { Gauge, type Registry } from "prom-client";
import { apiRunner } from "../../api-server/api-runner.ts";
import { connectionTo } from "../../api-server/connection.ts";
import { METRICS } from "../metric-table.ts";
import type { Log } from "../request-log.ts";
import type { WebhookSettings } from "../settings.ts";
import { BLOCKED_REASONS, blocked, type Enforcement, enforce } from "./enforcer.ts";
import { enforcerPorts } from "./enforcer-ports.ts";

export type EnforcementRunner = {
  /** Never rejects, and does nothing while its last call still runs. */
  readonly look: () => Promise<void>;
  readonly close: () => void;
};

/** @throws Fault when the way to the API server cannot be read */
export async function startEnforcement(
  settings: WebhookSettings,
  { log, registry }: { readonly log: Log; readonly registry: Registry },
): Promise<EnforcementRunner> {
  const { ask, close } = apiRunner(await connectionTo(settings));
  const ports = enforcerPorts(ask, settings);
  let last: Enforcement = { isEnforcing: false, why: "", reason: "none" };
  addEnforcementGauges(registry, () => last);
  let isRunning = false;
  const look = async (): Promise<void> => {
    if (isRunning) return;
    isRunning = true;
    const failed = (error: unknown): Enforcement => blocked(last.isEnforcing, String(error));
    const now = await enforce(ports).catch(failed);
    isRunning = false;
    if (now.isEnforcing && !last.isEnforcing) log.info("Pods are refused from now on while no webhook answers");
    if (now.why !== "" && now.why !== last.why) log.info(now, "failing closed is not as it should be yet");
    last = now;
  };
  return { look, close };
}

export function addEnforcementGauges(registry: Registry, read: () => Enforcement): void {
  const registers = [registry];
  new Gauge({
    ...METRICS.enforcing,
    registers,
    collect() {
      this.set(Number(read().isEnforcing));
    },
  });
  new Gauge({
    ...METRICS.enforcementBlocked,
    registers,
    collect() {
      const { isEnforcing, reason } = read();
      for (const each of BLOCKED_REASONS) this.set({ reason: each }, Number(!isEnforcing && reason === each));
    },
  });
}
