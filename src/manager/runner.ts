/** Passes events and the time to the drain's state machine, and executes the resulting actions. */
import type { DrainSettings } from "../contract/drain-settings.ts";
import { runChainedHook } from "./calls/chained-hook-call.ts";
import type { ChainedHook } from "./calls/original-hooks.ts";
import type { DrainAction, DrainEvent, Sample } from "./drain/drain-event.ts";
import { step } from "./drain/drain-machine.ts";
import { outcomeOf } from "./drain/drain-report-of.ts";
import { type DrainState, drainOf, idleState } from "./drain/drain-state.ts";
import { createDrainReports } from "./drain-reports.ts";
import { type Log, type LogSource, messageLine, phaseLine } from "./log-line.ts";
import { effectiveSettings } from "./manager-driver.ts";
import type { Driver, NowMs } from "./ports.ts";
import type { PreloadFlag } from "./preload-flag.ts";
import { type RelayClient, relayDemandOf } from "./relay/relay-client.ts";
import type { SocketVisitor } from "./sockets/reading.ts";
import type { SocketReader } from "./sockets/sockets.ts";
import { type ProcessWatch, UNKNOWN_PROCESSES } from "./traffic/other-processes.ts";
import type { ResetCounter } from "./traffic/resets.ts";
import type { TrafficMonitor } from "./traffic/traffic-monitor.ts";

type RunnerParts = {
  readonly settings: DrainSettings;
  readonly logSource: LogSource;
  readonly chainedHooks: readonly ChainedHook[];
  readonly nowMs: NowMs;
  readonly readSockets: SocketReader;
  readonly monitor: TrafficMonitor;
  readonly processes: ProcessWatch;
  readonly resets: ResetCounter;
  readonly driver: Driver;
  readonly relay: RelayClient;
  readonly preloadFlag: PreloadFlag;
  readonly acceptedCount: () => number;
  readonly respond: (holdId: number, body: string) => void;
  readonly log: Log;
  readonly exit: (code: number) => void;
};

type Runner = {
  readonly dispatch: (event: DrainEvent) => void;
  readonly status: () => string;
};

/** Below the maximum of Node's timers (2^31 ms). A drain that needs a longer timer wakes up early, which is harmless. */
const LONGEST_TIMER_MS = 1_000_000_000;
/** More than the resolution of the kernel's clock. */
const TIME_WAIT_SLACK_MS = 100;
/** Delay of the exit, for responses that are still being sent. */
const EXIT_DELAY_MS = 20;

export function createRunner(parts: RunnerParts): Runner {
  const { settings, logSource, nowMs } = parts;
  const reports = createDrainReports(parts);
  let state = idleState(parts.chainedHooks.map((hook) => hook.container));
  let timer: NodeJS.Timeout | null = null;
  let sampleAtMs = -1;
  let chainedHookDials = 0;
  let lastReadStartMs = -1;

  const { monitor, processes } = parts;
  const visitor: SocketVisitor = {
    onListener: (socket) => {
      monitor.addListener(socket);
      processes.add(socket);
    },
    onConnection: (socket) => {
      monitor.addConnection(socket, nowMs());
      processes.add(socket);
    },
    onUdpPort: monitor.addUdpPort,
    onTooManyUdp: monitor.addTooManyUdp,
    onIncomplete: monitor.markIncomplete,
  };

  const takeSample = (): Sample => {
    const fromMs = nowMs();
    const sinceLastMs = lastReadStartMs < 0 ? 0 : fromMs - lastReadStartMs;
    monitor.startSample(fromMs);
    processes.startSample();
    // Old TIME_WAIT entries are omitted: the last sample counted the entries of connections that ended before that sample, and entries
    // older than a quiet period do not have an effect.
    const reading = parts.readSockets(Math.min(sinceLastMs, settings.quietPeriodMs) + TIME_WAIT_SLACK_MS, visitor);
    if (reading !== undefined) lastReadStartMs = fromMs;
    const ownConnections = {
      dials: parts.driver.dialCount() + chainedHookDials,
      relayDials: parts.relay.dialCount(),
      accepts: parts.acceptedCount(),
    };
    return {
      observation: monitor.finishSample(reading, nowMs(), ownConnections),
      otherProcesses: reading === undefined ? UNKNOWN_PROCESSES : processes.finishSample(),
      socketCount: reading?.socketCount ?? -1,
    };
  };

  const onTimer = (): void => {
    timer = null;
    const atMs = nowMs();
    const isSampleDue = sampleAtMs >= 0 && atMs >= sampleAtMs;
    dispatch({ kind: "tick", nowMs: atMs, sample: isSampleDue ? takeSample() : undefined });
  };

  const scheduleTick = (wakeAtMs: number): void => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (wakeAtMs < 0) return;
    timer = setTimeout(onTimer, Math.min(LONGEST_TIMER_MS, Math.max(0, Math.ceil(wakeAtMs - nowMs()))));
  };

  const warn = (message: string, detail: string): void => {
    if (detail !== "") parts.log(messageLine(logSource, "warn", message, detail));
  };

  const runChainedHookOf = (container: string): void => {
    const hook = parts.chainedHooks.find((one) => one.container === container);
    const onFinished = (failure: string): void => {
      if (failure !== "") warn("chained hook failed", `container ${container}: ${failure}`);
      dispatch({ kind: "chained-hook-finished", nowMs: nowMs(), container });
    };
    if (hook !== undefined && hook.kind === "http-get") chainedHookDials = chainedHookDials + 1;
    if (hook === undefined) onFinished("");
    else runChainedHook(hook, onFinished);
  };

  const status = (): string => JSON.stringify(reports.explainedReportOf(state));

  /** Logs the state at the start of the phase. The next phase's line contains later changes. */
  const startPhase = (enteredState: DrainState): void => {
    const atMs = nowMs();
    const phase = enteredState.phase.name;
    if (phase === "withdrawing") {
      parts.resets.markTrigger();
      reports.startProgress(() => state);
    }
    if (phase === "holding") parts.resets.markRelease(openConnections(state));
    const drain = drainOf(enteredState.phase);
    const sinceTriggerMs = drain === undefined ? 0 : atMs - drain.triggeredAtMs;
    const heldHooks = enteredState.hooks.holds.map((hold) => (hold.role === "drain" ? "(own hook)" : hold.container));
    const outcome = outcomeOf(enteredState.phase);
    const trigger = drain?.trigger ?? "none";
    parts.log(phaseLine(logSource, { phase, outcome, trigger, sinceTriggerMs, heldHooks }));
    if (phase === "done") reports.publish(state);
  };

  const perform = (action: DrainAction): void => {
    switch (action.kind) {
      case "entered":
        startPhase(action.enteredState);
        return;
      case "answer":
        parts.respond(action.holdId, status());
        return;
      case "run-chained-hook":
        runChainedHookOf(action.container);
        return;
      case "start-driver-drain":
        parts.driver.startDrain((failure) => warn("driver's drain was not started", failure));
        parts.preloadFlag.set(monitor.ports());
        return;
      case "cancel-driver-drain":
        parts.driver.cancelDrain((failure) => warn("driver's drain was not reverted", failure));
        return;
      case "count-active":
        parts.driver.countActive((active, hadTraffic) =>
          dispatch({ kind: "active-counted", nowMs: nowMs(), active, hadTraffic }),
        );
        return;
      case "add-kubelet-address":
        monitor.addKubelet(action.address);
        return;
      case "exit": {
        const code = action.code;
        setTimeout(
          () =>
            reports.publishLast(
              () => state,
              () => parts.exit(code),
            ),
          EXIT_DELAY_MS,
        );
        return;
      }
      default:
        return;
    }
  };

  const dispatch = (event: DrainEvent): void => {
    const next = step(effectiveSettings(parts.driver, settings), state, event);
    state = next.state;
    sampleAtMs = next.sampleAtMs;
    scheduleTick(next.wakeAtMs);
    for (const action of next.actions) perform(action);
    parts.relay.setDemand(relayDemandOf(settings, state));
  };

  return { dispatch, status };
}

function openConnections({ sample: { observation } }: DrainState): number {
  return observation.known ? observation.leftTotal : -1;
}
