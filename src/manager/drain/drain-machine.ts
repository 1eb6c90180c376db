/**
 * The drain: `idle → withdrawing → draining → holding → done`, as a pure function of events that carry their time.
 *
 * One rule decides what begins it: a hook is held and begins nothing; the Pod's end is said by the Pod itself (its
 * manager's own preStop, SIGTERM) or by the relay. See docs/who-may-speak.md.
 *
 * `take` notes what an event says, `advance` moves through as many phases as the moment allows. No order of events
 * loses a hold, and no late tick moves a deadline.
 */
import type { DrainTrigger } from "../../contract/drain-report.ts";
import type { DrainSettings, HookRole } from "../../contract/drain-settings.ts";
import { EXIT_FORCED, EXIT_OK } from "../../contract/exit-codes.ts";
import { canBeReached } from "./criterion.ts";
import { shortenedDeadlineMs } from "./deadline.ts";
import type { DrainAction, DrainEvent, HookJoined, Look, RelaySaid, Step } from "./drain-event.ts";
import { advance, finish } from "./drain-phases.ts";
import type { DrainState } from "./drain-state.ts";
import { FORCED } from "./drain-words.ts";
import { addHold, answerAll, answerPerformed, dropHold, holdOf } from "./holds.ts";
import { nextWake } from "./next-wake.ts";
import { looksAgain, mayLiveOn, rearmed, startDrain } from "./start-and-rearm.ts";
import { withHook } from "./trigger-rules.ts";
import { withWord } from "./withdrawal.ts";

export function step(settings: DrainSettings, state: DrainState, event: DrainEvent): Step {
  const actions: DrainAction[] = [];
  const taken = take(settings, state, event, actions);
  const next = advance(settings, taken, event.nowMs, actions);
  const wake = nextWake(settings, next, event.nowMs);
  return { state: next, actions, wakeAtMs: wake.wakeAtMs, lookAtMs: wake.lookAtMs };
}

function take(settings: DrainSettings, state: DrainState, event: DrainEvent, actions: DrainAction[]): DrainState {
  switch (event.kind) {
    case "hook-joined":
      return takeHook(settings, state, event, actions);
    case "drain-asked": {
      const hold = holdOf(event.holdId, event.nowMs, "", "drain", "");
      const held = addHold(awake(state, event.nowMs, actions), hold, actions);
      return held.phase === "idle" ? begin(settings, held, "hook", event.nowMs, actions) : held;
    }
    case "caller-left":
      return dropHold(state, event.holdId);
    case "chain-performed":
      return answerPerformed(state, event.container, actions);
    case "tick":
      return event.look === undefined ? state : takeLook(state, event.look, event.nowMs);
    case "active-counted":
      return takeCount(state, event.active, event.moved, event.nowMs);
    case "relay-said":
      return takeRelay(settings, state, event, actions);
    case "sigterm":
      return takeStop(settings, state, actions, event.nowMs);
    default:
      return state;
  }
}

/** All who may read the Pod can make this call, from anywhere: it is held, and begins nothing. */
function takeHook(settings: DrainSettings, state: DrainState, event: HookJoined, actions: DrainAction[]): DrainState {
  const role: HookRole = settings.hooks.find((hook) => hook.container === event.container)?.role ?? "app";
  const came = withHook(state, holdOf(event.holdId, event.nowMs, event.container, role, event.peer));
  const held = addHold(came.state, came.hook, actions);
  if (held.phase === "done") return looksAgain(held, event.nowMs);
  if (held.phase !== "idle") actions.push({ kind: "learn-kubelet", address: event.peer });
  return held;
}

/** The Pod itself calls again long after its drain: that was not its end, even if its app was not up by then. */
function awake(state: DrainState, nowMs: number, actions: DrainAction[]): DrainState {
  if (!mayLiveOn(state, nowMs)) return state;
  const ready = rearmed(state, nowMs);
  actions.push({ kind: "entered", phase: "idle", at: ready });
  if (state.drainingFromMs >= 0) actions.push({ kind: "tell-staying" });
  return ready;
}

/** Only what cannot be said from outside leads here: the Pod's own call, the relay's word, SIGTERM. */
function begin(
  settings: DrainSettings,
  state: DrainState,
  trigger: DrainTrigger,
  nowMs: number,
  actions: DrainAction[],
): DrainState {
  for (const hold of state.holds) {
    if (hold.role !== "drain") actions.push({ kind: "learn-kubelet", address: hold.peer });
  }
  const next = startDrain(settings, state, trigger, nowMs);
  actions.push({ kind: "entered", phase: "withdrawing", at: next });
  return next;
}

function takeCount(state: DrainState, active: number, moved: boolean, nowMs: number): DrainState {
  const firstMs = moved || state.activeZeroSinceMs < 0 ? nowMs : state.activeZeroSinceMs;
  const sinceMs = active === 0 ? firstMs : -1;
  const knownCountAtMs = active < 0 ? state.knownCountAtMs : nowMs;
  return { ...state, active, activeZeroSinceMs: sinceMs, countedAtMs: nowMs, knownCountAtMs, counting: false };
}

/** The relay may confirm that the Pod ends and shorten the drain; its silence or denial changes nothing. */
function takeRelay(settings: DrainSettings, state: DrainState, event: RelaySaid, actions: DrainAction[]): DrainState {
  const told = withWord(state, event);
  const begun =
    told.phase === "idle" && event.terminating ? begin(settings, told, "relay", event.nowMs, actions) : told;
  if (event.graceSeconds < 0 || begun.triggeredAtMs < 0 || begun.phase === "done") return begun;
  const deadlineMs = shortenedDeadlineMs(settings, begun.triggeredAtMs, begun.deadlineMs, event.graceSeconds);
  return { ...begun, deadlineMs };
}

/**
 * SIGTERM. A native sidecar is signalled when the other containers have ended or the grace period is over: nothing is
 * left to protect. In classic mode it may also mean that our own hook failed to start, so a running drain goes on until
 * it is told a second time.
 */
function takeStop(settings: DrainSettings, state: DrainState, actions: DrainAction[], nowMs: number): DrainState {
  if (state.phase === "idle") {
    const asked: DrainState = { ...state, stopAsked: true };
    return state.holds.length === 0 ? asked : begin(settings, asked, "sigterm", nowMs, actions);
  }
  if (settings.classic && !state.stopAsked && state.phase !== "done") return { ...state, stopAsked: true };
  const cut = state.holds.length > 0;
  // In the holding phase the drain itself is over, and its report stands.
  const drains = state.phase === "withdrawing" || state.phase === "draining";
  const ended = drains ? finish(state, "forced", FORCED, nowMs) : state;
  const gone = answerAll(ended, actions);
  const doneAtMs = state.doneAtMs < 0 ? nowMs : state.doneAtMs;
  const done: DrainState = { ...gone, phase: "done", doneAtMs, rearmAtMs: -1, stopAsked: true };
  if (state.phase !== "done") actions.push({ kind: "entered", phase: "done", at: done });
  actions.push({ kind: "exit", code: cut ? EXIT_FORCED : EXIT_OK });
  return done;
}

/** Takes one look at the sockets into the state. Pure. */
function takeLook(state: DrainState, look: Look, nowMs: number): DrainState {
  const neighbours = look.neighbours;
  // Once seen, it stays: the app's listener closes long before its last outgoing call.
  const sharedUser = state.sharedUser || (neighbours.known && neighbours.sharedUser);
  const gone = neighbours.known && !neighbours.others && !sharedUser;
  const seen = look.observation;
  const goneSinceMs = state.othersGoneSinceMs < 0 ? nowMs : state.othersGoneSinceMs;
  return {
    ...state,
    observation: seen,
    lookedAtMs: nowMs,
    // A reading that failed cost no less than the last one.
    lookedAtSockets: look.sockets < 0 ? state.lookedAtSockets : look.sockets,
    blindLooks: !seen.known && seen.blind ? state.blindLooks + 1 : 0,
    listened: state.listened || canBeReached(seen),
    sharedUser,
    othersGoneSinceMs: gone ? goneSinceMs : -1,
  };
}
