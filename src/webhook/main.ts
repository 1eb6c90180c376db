/** The webhook program: reads its settings, puts the parts together, listens, leaves. */
import { renameSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { EXIT_FAULT, EXIT_FORCED, EXIT_OK, EXIT_USAGE } from "../contract/exit-codes.ts";
import { Fault } from "../fault.ts";
import { injectPod } from "../injection/inject.ts";
import { type ClusterConfig, DEFAULT_CONFIG } from "../policy/cluster-config.ts";
import type { AdmissionRules } from "./admit.ts";
import { type CertificateSource, complaintAbout } from "./certificates/source.ts";
import { helpText, readSettings, type SettingProblem } from "./config.ts";
import { listen } from "./listen.ts";
import { logLines } from "./log-lines.ts";
import { createMeters } from "./metrics.ts";
import { createLog, type Log } from "./request-log.ts";
import { buildServer, renewCertificate, type WebhookServer } from "./server.ts";
import type { WebhookSettings } from "./settings.ts";
import { leave } from "./shutdown.ts";
import { releaseStartupMemory } from "./startup-memory.ts";
import { tokenSource } from "./token-source.ts";

/** Answers the exit status once the server has stopped. */
export async function main(args: readonly string[]): Promise<number> {
  const { settings, problems, help } = readSettings(args, process.env);
  if (help) {
    process.stdout.write(helpText());
    return EXIT_OK;
  }
  try {
    const file = await readClusterFile(settings.configFile);
    const all = [...problems, ...file.problems];
    if (all.length > 0) {
      for (const problem of all) process.stderr.write(`lastcall webhook: ${problem.where}: ${problem.message}\n`);
      return EXIT_USAGE;
    }
    return await serve(settings, file.config);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    process.stderr.write(`lastcall webhook: ${error.message}\n`);
    return EXIT_FAULT;
  }
}

async function serve(settings: WebhookSettings, config: ClusterConfig): Promise<number> {
  const lines = logLines();
  const log = createLog(settings.logLevel, lines);
  const stop = stopSignal(log, () => lines.flushSync());
  const source = await certificateFor(settings);
  const app = buildServer(
    rulesOf(settings, config),
    {
      namespaceAnnotations: async () => ({}),
      randomness: { newToken: tokenSource() },
      inject: injectPod,
      log,
      meters: createMeters(),
      nowMs: () => performance.now(),
      leaving: () => stop.told(),
      unreadiness: () => complaintAbout(source.current(), Date.now()),
    },
    source.current(),
  );
  releaseStartupMemory();
  const address = await listen(app, settings.host, settings.port);
  log.info({ ...address, optIn: settings.optIn, image: settings.image }, "listening");
  const watch = setInterval(() => void refresh(source, app, log), settings.certificateCheckMs);
  const signal = await stop.signal;
  // Ctrl-C comes from a person who waits, not from a cluster that still sends requests.
  const drainDelayMs = signal === "SIGINT" ? 0 : settings.drainDelayMs;
  await leave(app, { drainDelayMs, log, sleep: (ms) => sleep(ms, undefined, { ref: false }) });
  clearInterval(watch);
  lines.flushSync();
  return EXIT_OK;
}

type Stop = { readonly signal: Promise<NodeJS.Signals>; readonly told: () => boolean };

/** The second signal means: now. */
function stopSignal(log: Log, flush: () => void): Stop {
  let told = false;
  const signal = new Promise<NodeJS.Signals>((resolve) => {
    const onSignal = (name: NodeJS.Signals): void => {
      if (told) {
        log.warn({ signal: name }, "told to stop twice, ending at once");
        flush();
        process.exit(EXIT_FORCED);
      }
      told = true;
      resolve(name);
    };
    process.on("SIGTERM", onSignal);
    process.on("SIGINT", onSignal);
  });
  return { signal, told: () => told };
}

function rulesOf(settings: WebhookSettings, config: ClusterConfig): AdmissionRules {
  return {
    optIn: settings.optIn,
    config,
    facts: {
      apiServerVersion: settings.kubeVersion,
      lowestKubeletVersion: undefined,
      managerImage: settings.image,
      systemNamespaces: ["kube-system", "kube-public", "kube-node-lease", settings.namespace],
    },
  };
}

/** Both ways of getting a certificate load their packages only when they are needed. */
async function certificateFor(settings: WebhookSettings): Promise<CertificateSource> {
  if (settings.certificateFile !== "") {
    const { certificateFromFiles } = await import("./certificates/files.ts");
    return certificateFromFiles(settings.certificateFile, settings.keyFile);
  }
  const { makeCertificate } = await import("./certificates/self-made.ts");
  const made = await makeCertificate(settings.namespace, Date.now());
  if (settings.caFile !== "") writeWhole(settings.caFile, made.caCertificate);
  return made.source;
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

async function refresh(source: CertificateSource, app: WebhookServer, log: Log): Promise<void> {
  const found = await source.refresh(Date.now());
  if (found.kind === "changed") {
    renewCertificate(app, source.current());
    log.info({ validUntil: new Date(source.current().validUntilMs).toISOString() }, "certificate renewed");
  } else if (found.kind === "unusable") {
    log.warn({ err: found.fault }, "new certificate cannot be used, the old one stays");
  }
}

async function readClusterFile(path: string): Promise<{ config: ClusterConfig; problems: readonly SettingProblem[] }> {
  if (path === "") return { config: DEFAULT_CONFIG, problems: [] };
  const { readConfigFile } = await import("./config-file.ts");
  return readConfigFile(path);
}
