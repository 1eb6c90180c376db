/** Assembles and starts the manager: server, runner, traffic monitor, driver, relay client. */
import { isDriverUsed, withoutDriver } from "../contract/criterion.ts";
import type { DrainSettings } from "../contract/drain-settings.ts";
import { formatDuration } from "../contract/duration.ts";
import { createHookServer } from "./calls/hook-server.ts";
import { readChainedHooks } from "./calls/original-hooks.ts";
import { guardPort } from "./calls/port-guard.ts";
import { messageLine } from "./log-line.ts";
import { driverOf } from "./manager-driver.ts";
import type { Platform } from "./platform.ts";
import { createPreloadFlag } from "./preload-flag.ts";
import { clientStarter } from "./relay/client-process.ts";
import type { WithdrawalStatus } from "./relay/ipc-messages.ts";
import { createRelayClient, NO_ANSWER_YET, NO_RELAY } from "./relay/relay-client.ts";
import { NO_ENDPOINT, readRelaySettings } from "./relay/relay-settings.ts";
import { createRunner } from "./runner.ts";
import { createSocketReader, type SocketReader } from "./sockets/sockets.ts";
import { createConnectionMemory } from "./traffic/connection-memory.ts";
import { createProcessWatch } from "./traffic/other-processes.ts";
import { UNKNOWN_MS } from "./traffic/quiet.ts";
import { createTrafficMonitor } from "./traffic/traffic-monitor.ts";

type Served = { readonly onStopSignal: () => void };

export function serve(requested: DrainSettings, platform: Platform): Served {
  const { environment, nowMs } = platform;
  const speaker = { pod: environment.podName, namespace: environment.podNamespace };
  const note = (level: "info" | "warn", message: string, detail: string): void =>
    platform.log(messageLine(speaker, level, message, detail));
  const settings: DrainSettings = isDriverUsed(requested) ? requested : withoutDriver(requested);
  if (!isDriverUsed(requested))
    note(
      "info",
      "driver is not used",
      `${requested.driver} requires drained-when=connections; samples of sockets decide`,
    );
  const chained = readChainedHooks(environment.original);
  if (chained.problem !== "") note("warn", "cannot read chained hooks", chained.problem);

  const relay = readRelaySettings(environment);
  if (relay.problem !== "") note("warn", "the relay is not used", relay.problem);
  const client =
    relay.settings === undefined
      ? NO_RELAY
      : createRelayClient({
          start: clientStarter(platform.self, environment),
          nowMs,
          onStatus: (status, answered) => {
            if (status.reason !== NO_ANSWER_YET) note("info", "relay", statusText(status));
            const { offered, terminating, graceSeconds, reason } = status;
            runner.dispatch({
              kind: "relay-reported",
              nowMs: nowMs(),
              offered,
              terminating,
              graceSeconds,
              reason,
              answered,
            });
          },
          onReported: (failure) => {
            if (failure !== "") note("warn", "cannot report to the relay", failure);
          },
        });

  const unguarded = guardPort(platform.portGuard, environment.token);
  if (unguarded !== "") note("info", "port guard is unavailable", unguarded);
  const readSockets = createSocketReader(platform.libc, platform.readText, platform.scanText, settings.port);
  const server = createHookServer(settings, environment.token, platform.portGuard, nowMs);
  const runner = createRunner({
    settings,
    speaker,
    chained: chained.hooks,
    nowMs,
    readSockets,
    monitor: createTrafficMonitor(
      settings,
      createConnectionMemory(() => Math.random()),
    ),
    processes: createProcessWatch(settings.port, relay.settings?.endpoint ?? NO_ENDPOINT),
    driver: driverOf(settings, platform.libc, (message, detail) => note("warn", message, detail)),
    relay: client,
    preloadFlag: createPreloadFlag(settings, platform.flagPage, (message, detail) => note("warn", message, detail)),
    accepted: server.accepted,
    answer: server.answer,
    log: platform.log,
    exit: platform.exit,
  });
  const address = settings.addressScope === "" ? `port ${settings.port}` : `${settings.addressScope}:${settings.port}`;
  server.open({
    onHook: (holdId, container, peer) =>
      runner.dispatch({ kind: "hook-called", nowMs: nowMs(), holdId, container, peer }),
    onDrain: (holdId) => runner.dispatch({ kind: "drain-requested", nowMs: nowMs(), holdId }),
    onLeft: (holdId) => runner.dispatch({ kind: "caller-left", nowMs: nowMs(), holdId }),
    status: runner.status,
    onListening: () => {
      const visibility = visibilityOf(readSockets);
      note(visibility === "netlink" ? "info" : "warn", "socket visibility", visibilityText(visibility));
      note("info", "listening", address);
      setTimeout(platform.onIdle, 0);
    },
    onRefused: (message) => note("warn", "cannot listen, trying again in 5s", message),
  });
  return { onStopSignal: () => runner.dispatch({ kind: "sigterm", nowMs: nowMs() }) };
}

function statusText(status: WithdrawalStatus): string {
  const state = status.terminating ? `${status.offered}, terminating` : status.offered;
  return status.reason === "" ? state : `${state}: ${status.reason}`;
}

export type Visibility = "netlink" | "proc" | "nothing";

export function visibilityOf(readSockets: SocketReader): Visibility {
  let torn = false;
  const reading = readSockets(0, {
    onListener: () => {},
    onConnection: () => {},
    onUdpPort: () => false,
    onManyUdp: () => {},
    onIncomplete: () => {
      torn = true;
    },
  });
  if (reading !== undefined) return reading.source;
  return torn ? "netlink" : "nothing";
}

function visibilityText(visibility: Visibility): string {
  if (visibility === "netlink") return "netlink: drains end when the traffic is quiet";
  if (visibility === "proc") {
    const waits = `end as blind ${formatDuration(UNKNOWN_MS)} after the last observed traffic`;
    return `proc: connections are counted, but not which side sent last; drains with open connections ${waits}`;
  }
  return "nothing: neither netlink nor /proc/net is readable; drains end as blind after their delays";
}
