/** Feeds the drain machine with events and time, and carries out what it asks for. Decides nothing. */
import type { DrainReport } from "../contract/drain-report.ts";
import type { DrainSettings } from "../contract/drain-settings.ts";
import { runChainedHook } from "./calls/chained-hook-call.ts";
import type { ChainedHook } from "./calls/original-hooks.ts";
import type { DrainAction, DrainEvent, Sample } from "./drain/drain-event.ts";
import { step } from "./drain/drain-machine.ts";
import { drainReportOf, outcomeOf } from "./drain/drain-report-of.ts";
import { type DrainState, drainOf, idleState } from "./drain/drain-state.ts";
import { whyNow } from "./drain/drain-words.ts";
import type { Farewell } from "./farewell.ts";
import { type Log, noteLine, phaseLine, reportLine, type Speaker } from "./log-line.ts";
import { effectiveSettings } from "./manager-driver.ts";
import type { Driver, NowMs } from "./ports.ts";
import { type RelayClient, relayDemandOf } from "./relay/relay-client.ts";
import type { SocketVisitor } from "./sockets/reading.ts";
import type { SocketReader } from "./sockets/sockets.ts";
import type { Judge } from "./traffic/judge.ts";
import { type NeighbourWatch, UNKNOWN_NEIGHBOURS } from "./traffic/neighbours.ts";

type RunnerParts = {
  readonly settings: DrainSettings;
  readonly speaker: Speaker;
  readonly chained: readonly ChainedHook[];
  readonly nowMs: NowMs;
  readonly readSockets: SocketReader;
  readonly judge: Judge;
  readonly neighbours: NeighbourWatch;
  readonly driver: Driver;
  readonly relay: RelayClient;
  readonly farewell: Farewell;
  /** Connections the manager has accepted; a running total. */
  readonly accepted: () => number;
  readonly answer: (holdId: number, body: string) => void;
  readonly log: Log;
  readonly exit: (code: number) => void;
};

type Runner = {
  readonly hear: (event: DrainEvent) => void;
  /** The report as JSON. */
  readonly status: () => string;
};

/** Longer timers overflow in the runtimes; waking up too early is harmless. */
const LONGEST_TIMER_MS = 1_000_000_000;
/** Covers the grain of the kernel's clock. */
const TRACES_SLACK_MS = 100;
/** For answers that are still on their way out. */
const LAST_WORDS_MS = 20;

export function createRunner(parts: RunnerParts): Runner {
  const { settings, speaker, nowMs } = parts;
  let state = idleState(parts.chained.map((hook) => hook.container));
  let timer: NodeJS.Timeout | null = null;
  let sampleAtMs = -1;
  let chainDials = 0;
  let readFromMs = -1;

  const { judge, neighbours } = parts;
  const visitor: SocketVisitor = {
    onListener: (socket) => {
      judge.seeListener(socket);
      neighbours.see(socket);
    },
    onConnection: (socket) => {
      judge.seeConnection(socket, nowMs());
      neighbours.see(socket);
    },
    onUdpPort: judge.seeUdpPort,
    onManyUdp: judge.seeManyUdp,
    onTorn: judge.seeTorn,
  };

  const takeSample = (): Sample => {
    const fromMs = nowMs();
    const sinceLastMs = readFromMs < 0 ? 0 : fromMs - readFromMs;
    // What ended before the last sample was seen there, and what ended a quiet period ago delays nothing.
    judge.begin(fromMs);
    neighbours.begin();
    const reading = parts.readSockets(Math.min(sinceLastMs, settings.quietPeriodMs) + TRACES_SLACK_MS, visitor);
    if (reading !== undefined) readFromMs = fromMs;
    const own = {
      dials: parts.driver.dials() + chainDials,
      dialsOut: parts.relay.dials(),
      accepts: parts.accepted(),
    };
    return {
      observation: judge.observe(reading, nowMs(), own),
      neighbours: reading === undefined ? UNKNOWN_NEIGHBOURS : neighbours.end(),
      sockets: reading?.sockets ?? -1,
    };
  };

  const onTimer = (): void => {
    timer = null;
    const atMs = nowMs();
    const due = sampleAtMs >= 0 && atMs >= sampleAtMs;
    hear({ kind: "tick", nowMs: atMs, sample: due ? takeSample() : undefined });
  };

  const plan = (wakeAtMs: number): void => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (wakeAtMs < 0) return;
    timer = setTimeout(onTimer, Math.min(LONGEST_TIMER_MS, Math.max(0, Math.ceil(wakeAtMs - nowMs()))));
  };

  const warn = (message: string, detail: string): void => {
    if (detail !== "") parts.log(noteLine(speaker, "warn", message, detail));
  };

  const performChain = (container: string): void => {
    const hook = parts.chained.find((one) => one.container === container);
    const performed = (failure: string): void => {
      if (failure !== "") warn("chained hook failed", `container ${container}: ${failure}`);
      hear({ kind: "chained-hook-finished", nowMs: nowMs(), container });
    };
    if (hook !== undefined && hook.kind === "http-get") chainDials = chainDials + 1;
    if (hook === undefined) performed("");
    else runChainedHook(hook, performed);
  };

  const status = (): string => {
    const atMs = nowMs();
    const why = whyNow(effectiveSettings(parts.driver, settings), state, atMs);
    const report: DrainReport = {
      ...drainReportOf(state, atMs, parts.farewell.processes(), parts.farewell.missed()),
      why,
    };
    return JSON.stringify(report);
  };

  /** By the state on entering: what else the step brought is told by the next line, whether or not it was the same step. */
  const tell = (entered: DrainState): void => {
    const atMs = nowMs();
    const phase = entered.phase.name;
    const drain = drainOf(entered.phase);
    const sinceTriggerMs = drain === undefined ? 0 : atMs - drain.triggeredAtMs;
    const held = entered.hooks.holds.map((hold) => (hold.role === "drain" ? "(own hook)" : hold.container));
    const outcome = outcomeOf(entered.phase);
    const trigger = drain?.trigger ?? "none";
    parts.log(phaseLine(speaker, { phase, outcome, trigger, sinceTriggerMs, held }));
    if (phase !== "done") return;
    const last = drainReportOf(state, atMs, parts.farewell.processes(), parts.farewell.missed());
    parts.log(reportLine(speaker, last));
    if (drainOf(state.phase) !== undefined) parts.relay.deliver(JSON.stringify(last));
  };

  const perform = (action: DrainAction): void => {
    switch (action.kind) {
      case "entered":
        tell(action.at);
        return;
      case "answer":
        parts.answer(action.holdId, status());
        return;
      case "run-chained-hook":
        performChain(action.container);
        return;
      case "start-driver-drain":
        parts.driver.startDrain((failure) => warn("driver could not be told", failure));
        parts.farewell.say(judge.ports());
        return;
      case "cancel-driver-drain":
        parts.driver.cancelDrain((failure) => warn("driver could not be told", failure));
        return;
      case "count-active":
        parts.driver.countActive((active, moved) => hear({ kind: "active-counted", nowMs: nowMs(), active, moved }));
        return;
      case "learn-kubelet":
        judge.learnKubelet(action.address);
        return;
      case "exit": {
        const code = action.code;
        setTimeout(() => parts.relay.settle(() => parts.exit(code)), LAST_WORDS_MS);
        return;
      }
      default:
        return;
    }
  };

  const hear = (event: DrainEvent): void => {
    const next = step(effectiveSettings(parts.driver, settings), state, event);
    state = next.state;
    sampleAtMs = next.sampleAtMs;
    plan(next.wakeAtMs);
    for (const action of next.actions) perform(action);
    parts.relay.follow(relayDemandOf(settings, state));
  };

  return { hear, status };
}
