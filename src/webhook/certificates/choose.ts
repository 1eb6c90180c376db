/** Which certificate the settings ask for. Every way loads its packages only when it is taken. */
import { renameSync, writeFileSync } from "node:fs";
import type { Registry } from "prom-client";
import { Fault } from "../../fault.ts";
import type { Log } from "../request-log.ts";
import type { WebhookSettings } from "../settings.ts";
import { type CertificateSource, certificateSource } from "./source.ts";

export type CertificatePorts = {
  readonly log: Log;
  readonly registry: Registry;
  /** Wall-clock and monotonic milliseconds. */
  readonly wallMs: () => number;
  readonly monotonicMs: () => number;
};

/** @throws Fault when files or the way to the API server cannot be read; an API server that is away is no fault */
export async function certificateFor(settings: WebhookSettings, ports: CertificatePorts): Promise<CertificateSource> {
  if (settings.caSecret !== "") return sharedAuthority(settings, ports);
  if (settings.certificateFile !== "" && settings.webhookConfiguration !== "") return publishedFiles(settings, ports);
  if (settings.certificateFile !== "") {
    const { certificateFromFiles } = await import("./external-files.ts");
    const source = await certificateFromFiles(settings.certificateFile, settings.keyFile);
    return withExpiry(source, ports.registry);
  }
  const { makeCertificate } = await import("./self-made.ts");
  const made = await makeCertificate(settings.namespace, ports.wallMs());
  if (settings.caFile !== "") writeWhole(settings.caFile, made.caCertificate);
  return made.source;
}

const LEAF_LIFE_LIMIT_MS = 7 * 86_400_000;
const DROP_HOLD_LIMIT_MS = 3_600_000;

async function sharedAuthority(settings: WebhookSettings, ports: CertificatePorts): Promise<CertificateSource> {
  const { connectionTo } = await import("../../api-server/connection.ts");
  const { apiRunner } = await import("../../api-server/api-runner.ts");
  const { secretStore } = await import("../../api-server/secret-store.ts");
  const { webhookConfigurations } = await import("./webhook-configurations.ts");
  const { createReconciler } = await import("./reconciler.ts");
  const { addAuthorityGauges, eventRecorder } = await import("./event-log.ts");
  const { makeCertificate } = await import("./self-made.ts");
  const { certificateTools, serviceNames } = await import("../../authority/signing.ts");
  const { ask, close } = apiRunner(await connectionTo(settings));
  const leafLifeMs = Math.min(LEAF_LIFE_LIMIT_MS, settings.caLifeMs / 8);
  const lives = {
    caLifeMs: settings.caLifeMs,
    leafLifeMs,
    settleMs: settings.caSettleMs,
    dropHoldMs: Math.min(DROP_HOLD_LIMIT_MS, leafLifeMs),
  };
  const reconciler = createReconciler(
    {
      secrets: secretStore(ask, settings.namespace, settings.caSecret),
      configurations: webhookConfigurations(ask, settings.webhookConfiguration, settings.enforceConfiguration),
      tools: certificateTools("lastcall CA", { dns: serviceNames(settings.service, settings.namespace) }),
      now: () => ({ wallMs: ports.wallMs(), monotonicMs: ports.monotonicMs() }),
      recordEvent: eventRecorder(ports.log, ports.registry),
    },
    lives,
  );
  const placeholder = await makeCertificate(settings.namespace, ports.wallMs());
  addAuthorityGauges(ports.registry, reconciler.status);
  const { leaf: current, distrust, reconcile: update } = reconciler;
  return { ...certificateSource({ current, placeholder: placeholder.source.current(), distrust, update }), close };
}

async function publishedFiles(settings: WebhookSettings, ports: CertificatePorts): Promise<CertificateSource> {
  const { connectionTo } = await import("../../api-server/connection.ts");
  const { apiRunner } = await import("../../api-server/api-runner.ts");
  const { webhookConfigurations } = await import("./webhook-configurations.ts");
  const { eventRecorder } = await import("./event-log.ts");
  const { readExternalPair } = await import("./external-files.ts");
  const { externalSource } = await import("./external-source.ts");
  const { ask, close } = apiRunner(await connectionTo(settings));
  const source = await externalSource({
    read: () => readExternalPair(settings.certificateFile, settings.keyFile),
    configurations: webhookConfigurations(ask, settings.webhookConfiguration, settings.enforceConfiguration),
    now: () => ({ wallMs: ports.wallMs(), monotonicMs: ports.monotonicMs() }),
    settleMs: settings.caSettleMs,
    recordEvent: eventRecorder(ports.log, ports.registry),
  });
  return { ...(await withExpiry(source, ports.registry)), close };
}

/** The program that renews the files may stop without a word. */
async function withExpiry(source: CertificateSource, registry: Registry): Promise<CertificateSource> {
  const { addExpiryGauge } = await import("./event-log.ts");
  addExpiryGauge(registry, () => ({ leafMs: source.current().validUntilMs }));
  return source;
}

/** Readers see the old file or the new one, never half of it. */
function writeWhole(path: string, text: string): void {
  try {
    writeFileSync(`${path}.new`, text);
    renameSync(`${path}.new`, path);
  } catch (error) {
    throw new Fault("ERR_INPUT_UNREADABLE", `${path} cannot be written`, error);
  }
}
