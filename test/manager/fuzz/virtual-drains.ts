/**
 * Runs drains without timers: with the kernel's sockets, the manager's monitor and drain machine, and a virtual clock that
 * advances to the next wake-up. A day of drains takes minutes. Uses the plain subset (decision 3).
 */
import type { DrainSettings } from "../../../src/contract/drain-settings.ts";
import type { DrainAction, DrainEvent } from "../../../src/manager/drain/drain-event.ts";
import { step } from "../../../src/manager/drain/drain-machine.ts";
import { drainReportOf, outcomeOf } from "../../../src/manager/drain/drain-report-of.ts";
import { drainOf, idleState } from "../../../src/manager/drain/drain-state.ts";
import { type LogSource, phaseLine, reportLine } from "../../../src/manager/log-line.ts";
import { NO_ENDPOINT } from "../../../src/manager/relay/relay-settings.ts";
import type { SocketVisitor } from "../../../src/manager/sockets/reading.ts";
import type { SocketReader } from "../../../src/manager/sockets/sockets.ts";
import { createConnectionMemory } from "../../../src/manager/traffic/connection-memory.ts";
import { createProcessWatch, UNKNOWN_PROCESSES } from "../../../src/manager/traffic/other-processes.ts";
import { createTrafficMonitor, NO_CONNECTIONS } from "../../../src/manager/traffic/traffic-monitor.ts";

export type VirtualPod = {
  /** Runs a drain, and then advances the clock by the minute after which the manager accepts another drain. */
  readonly drain: () => void;
  readonly nowMs: () => number;
  readonly sampleCount: () => number;
  /** Number of characters in responses and log lines. */
  readonly writtenChars: () => number;
  readonly outcome: () => string;
};

/** A drain has some hundreds of ticks; the limit detects an endless drain. */
const TICK_LIMIT = 100_000;

export function createVirtualPod(settings: DrainSettings, readSockets: SocketReader): VirtualPod {
  const source: LogSource = { pod: "web-0", namespace: "shop" };
  const monitor = createTrafficMonitor(
    settings,
    createConnectionMemory(() => Math.random()),
  );
  const otherProcesses = createProcessWatch(settings.port, NO_ENDPOINT);
  let state = idleState([]);
  let nowMs = 1_000;
  let wakeAtMs = -1;
  let sampleAtMs = -1;
  let samples = 0;
  let written = 0;
  let lastHoldId = 0;
  let outcome = "none";

  const visitor: SocketVisitor = {
    onListener: (socket) => {
      monitor.addListener(socket);
      otherProcesses.add(socket);
    },
    onConnection: (socket) => {
      monitor.addConnection(socket, nowMs);
      otherProcesses.add(socket);
    },
    onUdpPort: monitor.addUdpPort,
    onTooManyUdp: monitor.addTooManyUdp,
    onIncomplete: monitor.markIncomplete,
  };

  const perform = (action: DrainAction): void => {
    if (action.kind === "add-kubelet-address") monitor.addKubelet(action.address);
    if (action.kind === "answer") written = written + JSON.stringify(drainReportOf(state, nowMs, -1, 0)).length;
    if (action.kind === "count-active") dispatch({ kind: "active-counted", nowMs, active: 3, hadTraffic: false });
    if (action.kind !== "entered") return;
    const report = drainReportOf(state, nowMs, -1, 0);
    const drain = drainOf(action.enteredState.phase);
    const phaseReport = {
      phase: action.enteredState.phase.name,
      outcome: outcomeOf(action.enteredState.phase),
      trigger: drain === undefined ? "none" : drain.trigger,
      sinceTriggerMs: drain === undefined ? 0 : nowMs - drain.triggeredAtMs,
      heldHooks: ["app"],
    };
    written = written + phaseLine(source, phaseReport).length + reportLine(source, report).length;
    if (action.enteredState.phase.name === "done") outcome = report.outcome;
  };

  const dispatch = (event: DrainEvent): void => {
    const next = step(settings, state, event);
    state = next.state;
    wakeAtMs = next.wakeAtMs;
    sampleAtMs = next.sampleAtMs;
    for (const action of next.actions) perform(action);
  };

  const tick = (): void => {
    nowMs = Math.max(nowMs, wakeAtMs);
    if (sampleAtMs < 0 || nowMs < sampleAtMs) {
      dispatch({ kind: "tick", nowMs, sample: undefined });
      return;
    }
    samples = samples + 1;
    monitor.startSample(nowMs);
    otherProcesses.startSample();
    const reading = readSockets(250, visitor);
    const sample = {
      observation: monitor.finishSample(reading, nowMs, NO_CONNECTIONS),
      otherProcesses: reading === undefined ? UNKNOWN_PROCESSES : otherProcesses.finishSample(),
      socketCount: 0,
    };
    dispatch({ kind: "tick", nowMs, sample });
  };

  const drain = (): void => {
    lastHoldId = lastHoldId + 2;
    dispatch({ kind: "hook-called", nowMs, holdId: lastHoldId - 1, container: "app", peer: "10.0.0.1" });
    dispatch({ kind: "drain-requested", nowMs, holdId: lastHoldId });
    for (let ticks = 0; ticks < TICK_LIMIT && state.phase.name !== "done"; ticks = ticks + 1) tick();
    if (state.phase.name !== "done") throw new Error("the drain never ended");
    if (wakeAtMs >= 0) tick();
    nowMs = nowMs + 120_000;
  };

  return { drain, nowMs: () => nowMs, sampleCount: () => samples, writtenChars: () => written, outcome: () => outcome };
}
