/** Builds the certificate source that the settings select. Packages of other sources are not imported. */
import { renameSync, writeFileSync } from "node:fs";
import type { Registry } from "prom-client";
import type { SendRequest } from "../../api-server/api-request.ts";
import { Fault } from "../../fault.ts";
import type { Log } from "../log.ts";
import type { WebhookSettings } from "../settings.ts";
import type { Lifetimes } from "./authority.ts";
import type { ReconcilerPorts } from "./reconciler.ts";
import { type CertificateSource, certificateSource } from "./source.ts";

type CertificatePorts = {
  readonly log: Log;
  readonly registry: Registry;
  readonly wallMs: () => number;
  readonly monotonicMs: () => number;
};

type PublishingPorts = Pick<ReconcilerPorts, "configurations" | "now" | "recordEvent"> & {
  readonly request: SendRequest;
};

/** @throws Fault when files or the kubeconfig cannot be read; an unreachable API server is retried */
export async function createSelectedSource(
  settings: WebhookSettings,
  ports: CertificatePorts,
): Promise<CertificateSource> {
  const hasFiles = settings.certificateFile !== "";
  if (settings.caSecret !== "" || (hasFiles && settings.webhookConfiguration !== ""))
    return createClusterSource(settings, ports);
  if (hasFiles) {
    const { certificateFromFiles } = await import("./external-files.ts");
    return withExpiryGauge(await certificateFromFiles(settings.certificateFile, settings.keyFile), ports.registry);
  }
  const { makeCertificate } = await import("./self-made.ts");
  const selfMade = await makeCertificate(settings.namespace, ports.wallMs());
  if (settings.caFile !== "") replaceFile(settings.caFile, selfMade.caCertificate);
  return selfMade.source;
}

async function createClusterSource(settings: WebhookSettings, ports: CertificatePorts): Promise<CertificateSource> {
  const { loadKubeConfig } = await import("../../api-server/load-kube-config.ts");
  const { createApiClient } = await import("../../api-server/api-client.ts");
  const { webhookConfigurations } = await import("./webhook-configurations.ts");
  const { eventRecorder } = await import("./event-recorder.ts");
  const { request, close } = createApiClient(await loadKubeConfig(settings));
  const publishing: PublishingPorts = {
    request,
    configurations: webhookConfigurations(request, settings.webhookConfiguration, settings.enforceConfiguration),
    now: () => ({ wallMs: ports.wallMs(), monotonicMs: ports.monotonicMs() }),
    recordEvent: eventRecorder(ports.log, ports.registry),
  };
  const build = settings.caSecret === "" ? createExternalFileSource : createSharedCaSource;
  return { ...(await build(settings, publishing, ports)), close };
}

async function createSharedCaSource(
  settings: WebhookSettings,
  { request, ...publishing }: PublishingPorts,
  { registry, wallMs }: CertificatePorts,
): Promise<CertificateSource> {
  const { createSecretStore } = await import("../../api-server/secret-store.ts");
  const { createCertificateTools, serviceNames } = await import("../../authority/signing.ts");
  const { createReconciler } = await import("./reconciler.ts");
  const { addAuthorityGauges } = await import("./event-recorder.ts");
  const { makeCertificate } = await import("./self-made.ts");
  const secrets = createSecretStore(request, settings.namespace, settings.caSecret);
  const tools = createCertificateTools("lastcall CA", { dns: serviceNames(settings.service, settings.namespace) });
  const reconciler = createReconciler({ ...publishing, secrets, tools }, lifetimesOf(settings));
  addAuthorityGauges(registry, reconciler.status);
  const { source } = await makeCertificate(settings.namespace, wallMs());
  return certificateSource({
    current: reconciler.leaf,
    placeholder: source.current(),
    distrustReason: reconciler.distrustReason,
    update: reconciler.reconcile,
  });
}

const LEAF_LIFE_LIMIT_MS = 7 * 86_400_000;
const DROP_DELAY_LIMIT_MS = 3_600_000;

function lifetimesOf({ caLifeMs, caSettleMs }: WebhookSettings): Lifetimes {
  const leafLifeMs = Math.min(LEAF_LIFE_LIMIT_MS, caLifeMs / 8);
  return { caLifeMs, leafLifeMs, settleMs: caSettleMs, dropDelayMs: Math.min(DROP_DELAY_LIMIT_MS, leafLifeMs) };
}

async function createExternalFileSource(
  { certificateFile, keyFile, caSettleMs }: WebhookSettings,
  publishing: PublishingPorts,
  { registry }: CertificatePorts,
): Promise<CertificateSource> {
  const { readExternalPair } = await import("./external-files.ts");
  const { externalSource } = await import("./external-source.ts");
  const read = (): ReturnType<typeof readExternalPair> => readExternalPair(certificateFile, keyFile);
  return withExpiryGauge(await externalSource({ ...publishing, read, settleMs: caSettleMs }), registry);
}

/** Exports the expiry as a metric, because the program that renews the files may fail silently. */
async function withExpiryGauge(source: CertificateSource, registry: Registry): Promise<CertificateSource> {
  const { addExpiryGauge } = await import("./event-recorder.ts");
  addExpiryGauge(registry, () => ({ leafMs: source.current().validUntilMs }));
  return source;
}

function replaceFile(path: string, text: string): void {
  try {
    writeFileSync(`${path}.new`, text);
    renameSync(`${path}.new`, path);
  } catch (error) {
    throw new Fault("ERR_INPUT_UNREADABLE", `${path} cannot be written`, error);
  }
}
