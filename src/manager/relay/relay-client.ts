/**
 * The manager's side of its relay client: starts the process when a drain may need it, hands its words to the drain, and
 * ends it. Nothing here waits, and whatever fails is an unknown, never a drain that fails.
 */
import type { DrainSettings } from "../../contract/drain-settings.ts";
import { floorEndMs } from "../drain/drain-plan.ts";
import type { DrainState } from "../drain/drain-state.ts";
import { isEndUnconfirmed } from "../drain/hook-calls.ts";
import type { NowMs } from "../ports.ts";
import { type ClientHandle, createClientHandle, type StartClient } from "./client-process.ts";
import { type ClientNews, sameStatus, unknownStatus, type WithdrawalStatus } from "./ipc-messages.ts";

/** What a drain wants of the relay at a moment. */
export type RelayDemand =
  | { readonly kind: "nothing" }
  /** Ask. From `floorEndMs` on the drain waits for the answer alone; -1 while none has begun. */
  | { readonly kind: "ask"; readonly floorEndMs: number }
  /** The answer matters no more, the report will. */
  | { readonly kind: "rest" };

const NOTHING: RelayDemand = { kind: "nothing" };

export function relayDemandOf(settings: DrainSettings, state: DrainState): RelayDemand {
  const { phase } = state;
  switch (phase.name) {
    case "idle":
      // By its hooks the Pod's end looks like a restart, and the relay may know which it is.
      return isEndUnconfirmed(state.hooks) ? { kind: "ask", floorEndMs: -1 } : NOTHING;
    case "withdrawing":
      return { kind: "ask", floorEndMs: floorEndMs(settings, phase.drain.triggeredAtMs) };
    case "draining":
      return { kind: "rest" };
    case "holding":
      return { kind: "rest" };
    default:
      return NOTHING;
  }
}

type RelayClientParts = {
  readonly start: StartClient;
  readonly nowMs: NowMs;
  /** @param answered the relay said it; else the client did, of the way to it */
  readonly onWord: (word: WithdrawalStatus, answered: boolean) => void;
  /** Empty, or why the report is lost. */
  readonly onReported: (failure: string) => void;
};

export type RelayClient = {
  /** Told after every event of the drain. */
  readonly follow: (demand: RelayDemand) => void;
  /** @param report its JSON; the client ends when it is delivered or lost */
  readonly deliver: (report: string) => void;
  /** Connections the client has opened; a running total. */
  readonly dials: () => number;
  /** Before the manager's exit: gives a report on its way a moment. */
  readonly settle: (done: () => void) => void;
};

export const NO_ANSWER_YET = "no answer yet";

/** While a drain waits, a client that lives says something more often than that, whatever the relay does. */
const HANG_MS = 4_000;
/** A client that dies by itself is started again, but not for ever. */
const RESTART_MS = 1_000;
const MOST_STARTS = 4;
/** Both tries of a delivery, and some more for the process itself. */
const DELIVERY_LIMIT_MS = 6_000;
const FAREWELL_MS = 100;
/** Whatever waits in the pipe is read before the client is judged. */
const ONE_TURN_MS = 1;

export function createRelayClient(parts: RelayClientParts): RelayClient {
  const { nowMs } = parts;
  let starts = 0;
  let startedAtMs = -1;
  let dials = 0;
  let demand: RelayDemand = NOTHING;
  let toldFloor = false;
  let resting = false;
  let delivering = false;
  let last = unknownStatus("");
  let guard: NodeJS.Timeout | null = null;
  let farewell = (): void => {};

  const stopGuard = (): void => {
    if (guard !== null) clearTimeout(guard);
    guard = null;
  };

  const say = (word: WithdrawalStatus, answered: boolean): void => {
    if (demand.kind !== "ask" || sameStatus(word, last)) return;
    last = word;
    parts.onWord(word, answered);
  };
  const unknown = (why: string): void => say(unknownStatus(why), false);

  const reported = (failure: string): void => {
    if (!delivering) return;
    delivering = false;
    parts.onReported(failure);
  };

  /** The client is no more. */
  const onGone = (why: string): void => {
    stopGuard();
    reported(why);
    unknown(why);
    farewell();
  };

  const onNews = (news: ClientNews): void => {
    switch (news.kind) {
      case "dials":
        dials = dials + 1;
        break;
      case "said":
        say(news.word, true);
        break;
      case "lost":
        unknown(news.reason);
        break;
      case "delivered":
        reported("");
        break;
      default:
        reported(news.reason);
    }
    watch();
  };

  const client: ClientHandle = createClientHandle({ start: parts.start, nowMs, onNews, onGone });

  const start = (): void => {
    starts = starts + 1;
    startedAtMs = nowMs();
    toldFloor = false;
    resting = false;
    client.start();
    if (last.reason === "") unknown(NO_ANSWER_YET);
  };

  /** A client that hangs is like a relay that hangs: from the end of the delay on its word must be fresh. */
  const watch = (): void => {
    if (delivering) return;
    stopGuard();
    if (!client.runs() || demand.kind !== "ask" || demand.floorEndMs < 0 || last.offered !== "in") return;
    const dueMs = Math.max(demand.floorEndMs, client.heardAtMs()) + HANG_MS;
    const readThenJudge = (): void => {
      guard = setTimeout(judge, ONE_TURN_MS);
    };
    guard = setTimeout(readThenJudge, Math.max(0, Math.ceil(dueMs - nowMs())));
  };
  const judge = (): void => {
    guard = null;
    if (nowMs() - client.heardAtMs() >= HANG_MS) client.end("the relay client hangs");
    else watch();
  };

  const ask = (floorEndMs: number): void => {
    const mayStart = starts < MOST_STARTS && (startedAtMs < 0 || nowMs() - startedAtMs >= RESTART_MS);
    if (!client.runs() && mayStart) start();
    if (floorEndMs >= 0 && client.runs() && !toldFloor) {
      toldFloor = true;
      client.order({ kind: "floor", inMs: floorEndMs - nowMs() });
    }
  };

  const rest = (): void => {
    if (!client.runs() || resting) return;
    resting = true;
    client.order({ kind: "rest" });
  };

  const forget = (): void => {
    starts = 0;
    startedAtMs = -1;
    last = unknownStatus("");
    if (!delivering && client.runs()) client.end("");
  };

  return {
    dials: () => dials,
    follow: (next) => {
      demand = next;
      if (next.kind === "ask") ask(next.floorEndMs);
      else if (next.kind === "rest") rest();
      else forget();
      watch();
    },
    deliver: (report) => {
      if (!client.runs()) start();
      delivering = true;
      client.order({ kind: "report", report });
      stopGuard();
      guard = setTimeout(() => client.end("the relay client did not end"), DELIVERY_LIMIT_MS);
    },
    settle: (done) => {
      if (!delivering || !client.runs()) {
        done();
        return;
      }
      const leave = (): void => {
        farewell = () => {};
        clearTimeout(timer);
        done();
      };
      const timer = setTimeout(leave, FAREWELL_MS);
      farewell = leave;
    },
  };
}

/** Where there is no relay. */
export const NO_RELAY: RelayClient = {
  follow: () => {},
  deliver: () => {},
  dials: () => 0,
  settle: (done) => done(),
};
