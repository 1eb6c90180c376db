/** Runs the enforcement of failurePolicy Fail, logs its changes and exports its metrics. */
import { Gauge, type Registry } from "prom-client";
import { createApiClient } from "../../api-server/api-client.ts";
import type { ApiResponse, SendRequest } from "../../api-server/api-request.ts";
import { loadKubeConfig } from "../../api-server/load-kube-config.ts";
import {
  type Operation,
  readObject,
  requireResourceVersion,
  resourceVersionOf,
  writeObject,
} from "../../api-server/stored-object.ts";
import { objectsAt } from "../../kubernetes/raw-json.ts";
import { configurationDisplayName, configurationPath } from "../certificates/webhook-configurations.ts";
import type { Log } from "../log.ts";
import { METRICS } from "../metric-table.ts";
import { runSelfTest } from "../self-test/self-test.ts";
import type { WebhookSettings } from "../settings.ts";
import { BLOCKED_REASONS, blocked, type Enforcement, type EnforcerPorts, enforce } from "./enforcer.ts";

export type EnforcementRunner = {
  readonly check: () => Promise<void>;
  readonly close: () => void;
};

export async function startEnforcement(
  settings: WebhookSettings,
  { log, registry }: { readonly log: Log; readonly registry: Registry },
): Promise<EnforcementRunner> {
  const { request, close } = createApiClient(await loadKubeConfig(settings));
  const ports = enforcerPorts(request, settings);
  let last: Enforcement = { isEnforcing: false, why: "", reason: "none" };
  addEnforcementGauges(registry, () => last);
  let isRunning = false;
  const check = async (): Promise<void> => {
    if (isRunning) return;
    isRunning = true;
    const blockedBy = (error: unknown): Enforcement => blocked(last.isEnforcing, String(error));
    const current = await enforce(ports).catch(blockedBy);
    isRunning = false;
    if (current.isEnforcing && !last.isEnforcing)
      log.info("enforcement is active: API servers refuse Pods while the webhook does not respond");
    if (current.why !== "" && current.why !== last.why) log.info(current, "cannot activate or update enforcement yet");
    last = current;
  };
  return { check, close };
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
      for (const label of BLOCKED_REASONS) this.set({ reason: label }, Number(!isEnforcing && reason === label));
    },
  });
}

/** `image`: the image of the dry-run Pods, which is never pulled. */
type ProofSettings = Pick<
  WebhookSettings,
  "enforceConfiguration" | "enforceCopies" | "proofNamespace" | "proofLabels" | "image"
>;

export function enforcerPorts(request: SendRequest, settings: ProofSettings): EnforcerPorts {
  const { enforceCopies, enforceConfiguration, proofNamespace, proofLabels, image } = settings;
  return {
    read: async () => {
      const originalConfiguration = await readObject(
        request,
        configurationPath(enforceCopies),
        configurationDisplayName(enforceCopies),
      );
      const enforcingConfiguration = await readObject(
        request,
        configurationPath(enforceConfiguration),
        configurationDisplayName(enforceConfiguration),
      );
      const enforcing = enforcingConfiguration && {
        resourceVersion: resourceVersionOf(enforcingConfiguration),
        webhooks: objectsAt(enforcingConfiguration, "webhooks"),
      };
      return { originals: objectsAt(originalConfiguration, "webhooks"), enforcing };
    },
    write: (resourceVersion, webhooks) => {
      const operations: readonly Operation[] = [
        requireResourceVersion(resourceVersion),
        { op: "add", path: "/webhooks", value: webhooks },
      ];
      const body = JSON.stringify(operations);
      return writeObject(
        request,
        { method: "PATCH", path: configurationPath(enforceConfiguration), body },
        configurationDisplayName(enforceConfiguration),
      );
    },
    proveInjection: async () => {
      let lastReport = "";
      let isQuotaFull = false;
      const expected = { namespace: proofNamespace, labels: proofLabels, image, waitMs: 0, startsPod: false };
      const isProven = await runSelfTest(expected, {
        request: async (call) => {
          const response = await request(call);
          isQuotaFull = isQuotaRefusal(response);
          return response;
        },
        // `waitMs: 0` allows one attempt; the next check makes the next attempt.
        sleep: async () => {},
        nowMs: () => 0,
        report: (sentence) => {
          lastReport = sentence;
        },
      });
      return isProven ? undefined : { why: lastReport, reason: isQuotaFull ? "quota" : "other" };
    },
  };
}

/** The ResourceQuota admission plugin refuses with 403 Forbidden; only these messages distinguish its refusals from others. */
const QUOTA_MESSAGE = /\b(?:exceeded|failed) quota: |\binsufficient quota to (?:match|consume)/;

export function isQuotaRefusal({ status, text }: ApiResponse): boolean {
  return status === 403 && QUOTA_MESSAGE.test(text);
}
