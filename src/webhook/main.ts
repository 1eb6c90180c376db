/** Starts the webhook: reads settings, assembles the parts, serves, and shuts down. */
import { setTimeout as sleep } from "node:timers/promises";
import { EXIT_FAULT, EXIT_OK, EXIT_USAGE } from "../contract/exit-codes.ts";
import { Fault } from "../fault.ts";
import { injectPod } from "../injection/inject.ts";
import { openPort } from "../open-port.ts";
import { type ClusterConfig, DEFAULT_CONFIG } from "../policy/cluster-config.ts";
import type { RelayThread } from "../relay/thread/worker-supervisor.ts";
import { problemText, type SettingProblem } from "../settings/read-settings.ts";
import { releaseStartupMemory } from "../startup-memory.ts";
import type { AdmissionRules } from "./admission/admit.ts";
import { tokenSource } from "./admission/token-source.ts";
import { createSelectedSource } from "./certificates/choose.ts";
import { certificateRenewer } from "./certificates/source.ts";
import { helpText, readSettings } from "./config.ts";
import { readClientCa } from "./intake/client-certificate.ts";
import { LISTEN_OPTIONS, openMoreListeners, requireFreePort } from "./intake/more-listeners.ts";
import { createLog, logWriter } from "./log.ts";
import { createMetrics, type WebhookMetrics, withThreadMetrics } from "./metrics.ts";
import {
  FIRST_READ_LIMIT_MS,
  RELAY_READY_LIMIT_MS,
  startClusterIfSet,
  startEnforcementIfSet,
  startRelayIfSet,
} from "./optional-parts.ts";
import { buildServer, renewCertificate } from "./server.ts";
import type { WebhookSettings } from "./settings.ts";
import { listenForStopSignal, shutDown } from "./shutdown.ts";

export async function main(args: readonly string[]): Promise<number> {
  const { settings, problems, help } = readSettings(args, process.env);
  if (help) {
    process.stdout.write(helpText());
    return EXIT_OK;
  }
  try {
    const configFile = await readClusterFile(settings.configFile);
    const allProblems = [...problems, ...configFile.problems];
    if (allProblems.length > 0) {
      for (const problem of allProblems) process.stderr.write(`lastcall webhook: ${problemText(problem)}\n`);
      return EXIT_USAGE;
    }
    return await serve(settings, configFile.config);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    process.stderr.write(`lastcall webhook: ${error.message}\n`);
    return EXIT_FAULT;
  }
}

async function serve(settings: WebhookSettings, config: ClusterConfig): Promise<number> {
  const logOutput = logWriter();
  const log = createLog(settings.logLevel, logOutput);
  const stop = listenForStopSignal(log, () => logOutput.flushSync());
  const metrics = createMetrics();
  const clocks = { wallMs: () => Date.now(), monotonicMs: () => performance.now() };
  const source = await createSelectedSource(settings, { log, registry: metrics.registry, ...clocks });
  const clientCa = await readClientCa(settings.clientCaFile);
  const rules = rulesOf(settings, config);
  const cluster = await startClusterIfSet(settings, { constantFacts: rules.facts, log, registry: metrics.registry });
  const enforcement = await startEnforcementIfSet(settings, { log, registry: metrics.registry });
  const newToken = tokenSource();
  let relay: RelayThread | undefined;
  try {
    relay = await startRelayIfSet(settings, { cluster, newToken, log, registry: metrics.registry });
    await Promise.all([cluster?.firstRead(FIRST_READ_LIMIT_MS), relay?.waitUntilReady(RELAY_READY_LIMIT_MS)]);
    const app = buildServer(
      rules,
      {
        namespaceAnnotations: async () => ({}),
        ...cluster,
        issueRelayAccess: relay?.issueRelayAccess,
        randomness: { newToken },
        inject: injectPod,
        log,
        metrics: withRelay(metrics, relay),
        nowMs: () => performance.now(),
        isStopping: () => stop.isReceived(),
        unreadyReason: () => source.unreadyReason(Date.now()),
      },
      { ...source.current(), clientCa },
    );
    releaseStartupMemory();
    const { host, port } = settings;
    const listenAt = async (at: string): Promise<void> => {
      await requireFreePort(at, port);
      await app.listen({ ...LISTEN_OPTIONS, host: at, port });
    };
    const address = await openPort(app.server, { name: "", host, port, listen: listenAt });
    const closeListeners = await openMoreListeners(app.server, address);
    log.info({ ...address, optIn: settings.optIn, image: settings.image }, "listening");
    const renew = certificateRenewer({
      source,
      useCertificate: (pair) => renewCertificate(app, { ...pair, clientCa }),
      log,
    });
    const check = async (): Promise<void> => {
      await renew(Date.now());
      if (source.unreadyReason(Date.now()) === "") await enforcement?.check();
    };
    const certificateTimer = setInterval(() => void check(), settings.certificateCheckMs);
    void check();
    const signal = await stop.signal;
    // Ctrl-C in a terminal: no cluster sends requests, so the webhook stops without a delay.
    const drainDelayMs = signal === "SIGINT" ? 0 : settings.drainDelayMs;
    await shutDown(app, {
      drainDelayMs,
      log,
      sleep: (ms) => sleep(ms, undefined, { ref: false }),
      closeListeners,
      onClosing: () => void relay?.endStreams(),
    });
    clearInterval(certificateTimer);
    return EXIT_OK;
  } finally {
    // Open connections would keep the process running, also after a failed start.
    source.close?.();
    enforcement?.close();
    await relay?.stop();
    await cluster?.stop();
    logOutput.flushSync();
  }
}

function rulesOf(settings: WebhookSettings, config: ClusterConfig): AdmissionRules {
  return {
    optIn: settings.optIn,
    config,
    facts: {
      // "" until the API server's version is read; an unknown version disables newer features.
      apiServerVersion: settings.kubeVersion === "auto" ? "" : settings.kubeVersion,
      lowestKubeletVersion: undefined,
      managerImage: settings.image,
      managerPullPolicy: settings.imagePullPolicy === "" ? undefined : settings.imagePullPolicy,
      pullSecrets: settings.imagePullSecrets,
      systemNamespaces: ["kube-system", "kube-public", "kube-node-lease", settings.namespace],
    },
  };
}

function withRelay(metrics: WebhookMetrics, relay: RelayThread | undefined): WebhookMetrics {
  return relay === undefined ? metrics : withThreadMetrics(metrics, relay.metrics);
}

async function readClusterFile(path: string): Promise<{ config: ClusterConfig; problems: readonly SettingProblem[] }> {
  if (path === "") return { config: DEFAULT_CONFIG, problems: [] };
  const { readConfigFile } = await import("./config-file.ts");
  return readConfigFile(path);
}
