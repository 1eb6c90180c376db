/** Assembles and starts the manager: server, runner, traffic monitor, driver, relay client. */
import { isDriverUsed, withoutDriver } from "../contract/criterion.ts";
import type { DrainSettings } from "../contract/drain-settings.ts";
import { formatDuration } from "../contract/duration.ts";
import { VARIABLES } from "../contract/manager-environment.ts";
import { createHookServer } from "./calls/hook-server.ts";
import { readChainedHooks } from "./calls/original-hooks.ts";
import { guardPort } from "./calls/port-guard.ts";
import { messageLine } from "./log-line.ts";
import { createDriver } from "./manager-driver.ts";
import type { Platform } from "./platform.ts";
import { createPreloadFlag } from "./preload-flag.ts";
import { clientStarter } from "./relay/client-process.ts";
import type { WithdrawalStatus } from "./relay/ipc-messages.ts";
import { createRelayClient, NO_RELAY, NO_RESPONSE_YET } from "./relay/relay-client.ts";
import { NO_ENDPOINT, readRelaySettings } from "./relay/relay-settings.ts";
import { createRunner } from "./runner.ts";
import { createDestroyedSockets } from "./sockets/destroyed-sockets.ts";
import { createSocketReader, type SocketReader } from "./sockets/sockets.ts";
import { createConnectionMemory } from "./traffic/connection-memory.ts";
import { createProcessWatch } from "./traffic/other-processes.ts";
import { UNKNOWN_WAIT_MS } from "./traffic/quiet.ts";
import { createResetCounter, NO_RESET_COUNTER } from "./traffic/resets.ts";
import { createTrafficMonitor } from "./traffic/traffic-monitor.ts";

type RunningManager = { readonly onStopSignal: () => void };

export function serve(requestedSettings: DrainSettings, platform: Platform): RunningManager {
  const { environment, nowMs } = platform;
  const logSource = { pod: environment.podName, namespace: environment.podNamespace };
  const logMessage = (level: "info" | "warn", message: string, detail: string): void =>
    platform.log(messageLine(logSource, level, message, detail));
  const settings: DrainSettings = isDriverUsed(requestedSettings)
    ? requestedSettings
    : withoutDriver(requestedSettings);
  if (!isDriverUsed(requestedSettings))
    logMessage(
      "info",
      "driver is not used",
      `driver ${requestedSettings.driver} requires lastcall.dev/drained-when: connections; samples of the sockets determine the end of the drain`,
    );
  const chainedReading = readChainedHooks(environment.originalHooks);
  if (chainedReading.problem !== "")
    logMessage("warn", "cannot read chained hooks", `${VARIABLES.original}: ${chainedReading.problem}`);

  const relayReading = readRelaySettings(environment);
  if (relayReading.problem !== "") logMessage("warn", "the relay is not used", relayReading.problem);
  const relayClient =
    relayReading.settings === undefined
      ? NO_RELAY
      : createRelayClient({
          start: clientStarter(platform.ownCommand, environment),
          nowMs,
          onStatus: (status, isFromRelay) => {
            if (status.reason !== NO_RESPONSE_YET) logMessage("info", "relay", statusText(status));
            const { endpointState, terminating, graceSeconds, reason, isGraceful } = status;
            runner.dispatch({
              kind: "relay-reported",
              nowMs: nowMs(),
              endpointState,
              terminating,
              graceSeconds,
              reason,
              isGraceful,
              isFromRelay,
            });
          },
          onReported: (failure) => {
            if (failure !== "") logMessage("warn", "cannot report to the relay", failure);
          },
        });

  const guardProblem = guardPort(platform.portGuard, environment.token);
  if (guardProblem !== "") logMessage("info", "port guard is unavailable", guardProblem);
  const readSockets = createSocketReader(platform.libc, platform.readText, platform.scanText, settings.port);
  const server = createHookServer(settings, environment.token, platform.portGuard, nowMs);
  const monitor = createTrafficMonitor(
    settings,
    createConnectionMemory(() => Math.random()),
  );
  const runner = createRunner({
    settings,
    logSource,
    chainedHooks: chainedReading.hooks,
    nowMs,
    readSockets,
    monitor,
    resets:
      settings.classic || settings.addressScope !== ""
        ? NO_RESET_COUNTER
        : createResetCounter({
            readText: platform.readText,
            nowMs,
            probes: settings.kubeletProbes,
            destroyed: createDestroyedSockets(platform.libc),
            monitor,
          }),
    processes: createProcessWatch(settings.port, relayReading.settings?.endpoint ?? NO_ENDPOINT),
    driver: createDriver(settings, platform.libc, (message, detail) => logMessage("warn", message, detail)),
    relay: relayClient,
    preloadFlag: createPreloadFlag(settings, platform.flagPage, (message, detail) =>
      logMessage("warn", message, detail),
    ),
    acceptedCount: server.acceptedCount,
    respond: server.respond,
    log: platform.log,
    exit: platform.exit,
  });
  const address = settings.addressScope === "" ? `port ${settings.port}` : `${settings.addressScope}:${settings.port}`;
  server.open({
    onHook: (holdId, container, peer) =>
      runner.dispatch({ kind: "hook-called", nowMs: nowMs(), holdId, container, peer }),
    onDrain: (holdId) => runner.dispatch({ kind: "drain-requested", nowMs: nowMs(), holdId }),
    onDisconnect: (holdId) => runner.dispatch({ kind: "client-disconnected", nowMs: nowMs(), holdId }),
    status: runner.status,
    onListening: () => {
      const visibility = visibilityOf(readSockets);
      logMessage(visibility === "netlink" ? "info" : "warn", "socket visibility", visibilityText(visibility));
      logMessage("info", "listening", address);
      setTimeout(platform.onStarted, 0);
    },
    onListenError: (message) => logMessage("warn", "cannot listen; next attempt in 5s", message),
  });
  return { onStopSignal: () => runner.dispatch({ kind: "sigterm", nowMs: nowMs() }) };
}

function statusText(status: WithdrawalStatus): string {
  const state = status.terminating ? `${status.endpointState}, terminating` : status.endpointState;
  return status.reason === "" ? state : `${state}: ${status.reason}`;
}

export type Visibility = "netlink" | "proc" | "nothing";

export function visibilityOf(readSockets: SocketReader): Visibility {
  let isIncomplete = false;
  const reading = readSockets(0, {
    onListener: () => {},
    onConnection: () => {},
    onUdpPort: () => false,
    onTooManyUdp: () => {},
    onIncomplete: () => {
      isIncomplete = true;
    },
  });
  if (reading !== undefined) return reading.source;
  return isIncomplete ? "netlink" : "nothing";
}

function visibilityText(visibility: Visibility): string {
  if (visibility === "netlink") return "netlink: drains end when the traffic is quiet";
  if (visibility === "proc") {
    const blindEnd = `end as blind ${formatDuration(UNKNOWN_WAIT_MS)} after the last observed traffic`;
    return `proc: netlink is not readable, and /proc/net shows connections, but not which side sent last; drains with open connections ${blindEnd}`;
  }
  return "nothing: neither netlink nor /proc/net is readable; drains end as blind after their delays";
}
