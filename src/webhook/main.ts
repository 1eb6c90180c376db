/** The webhook program: reads its settings, puts the parts together, listens, leaves. */
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
import { certificateFor } from "./certificates/choose.ts";
import { renewal } from "./certificates/source.ts";
import { helpText, readSettings } from "./config.ts";
import { readClientCa } from "./intake/client-certificate.ts";
import { demandFreePort, LISTENING, moreListeners } from "./intake/more-listeners.ts";
import { createLog, logLines } from "./log.ts";
import { createMeters, type Meters, withMore } from "./metrics.ts";
import { clusterFor, enforcementFor, FIRST_READ_LIMIT_MS, RELAY_READY_LIMIT_MS, relayFor } from "./optional-parts.ts";
import { buildServer, renewCertificate } from "./server.ts";
import type { WebhookSettings } from "./settings.ts";
import { leave, stopSignal } from "./shutdown.ts";

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
      for (const problem of all) process.stderr.write(`lastcall webhook: ${problemText(problem)}\n`);
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
  const meters = createMeters();
  const clocks = { wallMs: () => Date.now(), monotonicMs: () => performance.now() };
  const source = await certificateFor(settings, { log, registry: meters.registry, ...clocks });
  const clientCa = await readClientCa(settings.clientCaFile);
  const rules = rulesOf(settings, config);
  const cluster = await clusterFor(settings, { base: rules.facts, log, registry: meters.registry });
  const enforcement = await enforcementFor(settings, { log, registry: meters.registry });
  const newToken = tokenSource();
  let relay: RelayThread | undefined;
  try {
    relay = await relayFor(settings, { cluster, newToken, log, registry: meters.registry });
    await Promise.all([cluster?.firstRead(FIRST_READ_LIMIT_MS), relay?.ready(RELAY_READY_LIMIT_MS)]);
    const app = buildServer(
      rules,
      {
        namespaceAnnotations: async () => ({}),
        ...cluster,
        giveRelayAccess: relay?.giveRelayAccess,
        randomness: { newToken },
        inject: injectPod,
        log,
        meters: withRelay(meters, relay),
        nowMs: () => performance.now(),
        leaving: () => stop.told(),
        unreadiness: () => source.complaint(Date.now()),
      },
      { ...source.current(), clientCa },
    );
    releaseStartupMemory();
    const { host, port } = settings;
    const listenAt = async (at: string): Promise<void> => {
      await demandFreePort(at, port);
      await app.listen({ ...LISTENING, host: at, port });
    };
    const address = await openPort(app.server, { name: "", host, port, listen: listenAt });
    const closeListeners = await moreListeners(app.server, address);
    log.info({ ...address, optIn: settings.optIn, image: settings.image }, "listening");
    const renew = renewal({ source, use: (pair) => renewCertificate(app, { ...pair, clientCa }), log });
    const look = async (): Promise<void> => {
      await renew(Date.now());
      if (source.complaint(Date.now()) === "") await enforcement?.look();
    };
    const watch = setInterval(() => void look(), settings.certificateCheckMs);
    void look();
    const signal = await stop.signal;
    // Ctrl-C comes from a person who waits, not from a cluster that still sends requests.
    const drainDelayMs = signal === "SIGINT" ? 0 : settings.drainDelayMs;
    await leave(app, {
      drainDelayMs,
      log,
      sleep: (ms) => sleep(ms, undefined, { ref: false }),
      closeListeners,
      onClosing: () => void relay?.leave(),
    });
    clearInterval(watch);
    return EXIT_OK;
  } finally {
    // Its connections would keep the process, also after a port in use.
    source.close?.();
    enforcement?.close();
    await relay?.stop();
    await cluster?.stop();
    lines.flushSync();
  }
}

function rulesOf(settings: WebhookSettings, config: ClusterConfig): AdmissionRules {
  return {
    optIn: settings.optIn,
    config,
    facts: {
      // Until the API server tells its version, an unknown version is the careful answer.
      apiServerVersion: settings.kubeVersion === "auto" ? "" : settings.kubeVersion,
      lowestKubeletVersion: undefined,
      managerImage: settings.image,
      managerPullPolicy: settings.imagePullPolicy === "" ? undefined : settings.imagePullPolicy,
      pullSecrets: settings.imagePullSecrets,
      systemNamespaces: ["kube-system", "kube-public", "kube-node-lease", settings.namespace],
    },
  };
}

function withRelay(meters: Meters, relay: RelayThread | undefined): Meters {
  return relay === undefined ? meters : withMore(meters, relay.metrics);
}

async function readClusterFile(path: string): Promise<{ config: ClusterConfig; problems: readonly SettingProblem[] }> {
  if (path === "") return { config: DEFAULT_CONFIG, problems: [] };
  const { readConfigFile } = await import("./config-file.ts");
  return readConfigFile(path);
}
