/** Assembles the running manager: server, runner, observation, driver. */
import { isDriverUsed, withoutDriver } from "../contract/criterion.ts";
import type { DrainSettings } from "../contract/drain-settings.ts";
import { formatDuration } from "../contract/duration.ts";
import { createHookServer } from "./calls/hook-server.ts";
import { readChainedHooks } from "./calls/original-hooks.ts";
import { guardPort } from "./calls/port-guard.ts";
import { createFarewell } from "./farewell.ts";
import { noteLine } from "./log-line.ts";
import { driverOf } from "./manager-driver.ts";
import type { Outside } from "./outside.ts";
import { clientStarter } from "./relay/client-process.ts";
import type { WithdrawalStatus } from "./relay/ipc-messages.ts";
import { createRelayClient, NO_ANSWER_YET, NO_RELAY } from "./relay/relay-client.ts";
import { NO_ENDPOINT, readRelaySettings } from "./relay/relay-settings.ts";
import { createRunner } from "./runner.ts";
import { createSocketReader, type SocketReader } from "./sockets/sockets.ts";
import { createJudge } from "./traffic/judge.ts";
import { createConnectionMemory } from "./traffic/judge-memory.ts";
import { createNeighbourWatch } from "./traffic/neighbours.ts";
import { UNKNOWN_MS } from "./traffic/quiet.ts";

type Served = { readonly onStopSignal: () => void };

export function serve(asked: DrainSettings, outside: Outside): Served {
  const { environment, nowMs } = outside;
  const speaker = { pod: environment.podName, namespace: environment.podNamespace };
  const note = (level: "info" | "warn", message: string, detail: string): void =>
    outside.log(noteLine(speaker, level, message, detail));
  const settings: DrainSettings = isDriverUsed(asked) ? asked : withoutDriver(asked);
  if (!isDriverUsed(asked))
    note("info", "driver counts nothing here", `${asked.driver} does with drained-when=connections; sockets decide`);
  const chained = readChainedHooks(environment.original);
  if (chained.problem !== "") note("warn", "chained hooks are not performed", chained.problem);

  const relay = readRelaySettings(environment);
  if (relay.problem !== "") note("warn", "the relay is not asked", relay.problem);
  const client =
    relay.settings === undefined
      ? NO_RELAY
      : createRelayClient({
          start: clientStarter(outside.self, environment),
          nowMs,
          onStatus: (status, answered) => {
            if (status.reason !== NO_ANSWER_YET) note("info", "relay", statusText(status));
            const { offered, terminating, graceSeconds, reason } = status;
            runner.hear({
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
            if (failure !== "") note("warn", "the relay did not get the report", failure);
          },
        });

  const unguarded = guardPort(outside.portGuard, environment.token);
  if (unguarded !== "") note("info", "strangers are not kept from the port", unguarded);
  const readSockets = createSocketReader(outside.libc, outside.readText, outside.scanText, settings.port);
  const server = createHookServer(settings, environment.token, outside.portGuard, nowMs);
  const runner = createRunner({
    settings,
    speaker,
    chained: chained.hooks,
    nowMs,
    readSockets,
    judge: createJudge(
      settings,
      createConnectionMemory(() => Math.random()),
    ),
    neighbours: createNeighbourWatch(settings.port, relay.settings?.endpoint ?? NO_ENDPOINT),
    driver: driverOf(settings, outside.libc, (message, detail) => note("warn", message, detail)),
    relay: client,
    farewell: createFarewell(settings, outside.flagPage, (message, detail) => note("warn", message, detail)),
    accepted: server.accepted,
    answer: server.answer,
    log: outside.log,
    exit: outside.exit,
  });
  const address = settings.addressScope === "" ? `port ${settings.port}` : `${settings.addressScope}:${settings.port}`;
  server.open({
    onHook: (holdId, container, peer) => runner.hear({ kind: "hook-called", nowMs: nowMs(), holdId, container, peer }),
    onDrain: (holdId) => runner.hear({ kind: "drain-requested", nowMs: nowMs(), holdId }),
    onLeft: (holdId) => runner.hear({ kind: "caller-left", nowMs: nowMs(), holdId }),
    status: runner.status,
    onListening: () => {
      const sight = sightOf(readSockets);
      note(sight === "netlink" ? "info" : "warn", "sight of the sockets", sightWords(sight));
      note("info", "listening", address);
      setTimeout(outside.onIdle, 0);
    },
    onRefused: (message) => note("warn", "cannot listen, trying again in 5s", message),
  });
  return { onStopSignal: () => runner.hear({ kind: "sigterm", nowMs: nowMs() }) };
}

function statusText(status: WithdrawalStatus): string {
  const state = status.terminating ? `${status.offered}, terminating` : status.offered;
  return status.reason === "" ? state : `${state}: ${status.reason}`;
}

/** What the manager can see of its Pod's sockets, and what follows for its drains. Told once, at its start. */
export type Sight = "netlink" | "proc" | "nothing";

/** One look that nothing is remembered of. */
export function sightOf(readSockets: SocketReader): Sight {
  let torn = false;
  const reading = readSockets(0, {
    onListener: () => {},
    onConnection: () => {},
    onUdpPort: () => false,
    onManyUdp: () => {},
    onTorn: () => {
      torn = true;
    },
  });
  if (reading !== undefined) return reading.source;
  // Only netlink says of a table that it changed meanwhile.
  return torn ? "netlink" : "nothing";
}

function sightWords(sight: Sight): string {
  if (sight === "netlink") return "netlink: who spoke last is known, so drains end when the traffic is quiet";
  if (sight === "proc") {
    const waits = `hand over ${formatDuration(UNKNOWN_MS)} after the last traffic that shows`;
    return `proc: connections are counted, who spoke last is not known; drains with connections left ${waits}`;
  }
  return "nothing: neither netlink nor /proc/net can be read; drains hand over when their delays are over";
}
