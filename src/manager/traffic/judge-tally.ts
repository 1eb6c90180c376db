/** What one look at the connections adds up to, and when the newest traffic in it was. */
import { LEFT_LIMIT, type OpenConnection } from "../../contract/drain-report.ts";
import { endpointText } from "../sockets/address-text.ts";
import type { TcpSocket } from "../sockets/reading.ts";
import { stateName } from "../sockets/tcp-states.ts";
import { type Activity, activityOf, dataAgeMs, isAnswered, isTied, type Past } from "./quiet.ts";

export type Tally = {
  /** Of the socket that is judged: ages count back from when it was read. */
  nowMs: number;
  /** Nothing is new in the first look: it only tells what was there before. */
  readonly first: boolean;
  open: number;
  busy: number;
  tied: number;
  /** Connections of which the source cannot tell whether they are idle. */
  unknown: number;
  /** Connections from outside that were not there in the look before. */
  arrived: number;
  /** Connections, open or ended, beyond what can be remembered. */
  untracked: number;
  /** A client is at work, or beginning: evidence of the very moment when the look ends. */
  atWork: boolean;
  /** Monotonic; -1 when no traffic was seen in this look. */
  evidenceMs: number;
  readonly left: OpenConnection[];
};

export function createTally(nowMs: number, first: boolean): Tally {
  return {
    nowMs,
    first,
    open: 0,
    busy: 0,
    tied: 0,
    unknown: 0,
    arrived: 0,
    untracked: 0,
    atWork: false,
    evidenceMs: -1,
    left: [],
  };
}

export function addPresent(tally: Tally): void {
  tally.atWork = true;
  addEvidence(tally, 0);
}

/** @param ageMs how long ago; below zero where that is unknown, which then means now */
export function addEvidence(tally: Tally, ageMs: number): void {
  tally.evidenceMs = Math.max(tally.evidenceMs, tally.nowMs - Math.max(0, ageMs));
}

/** `working` and `answered` are both false where neither can be told. */
export type Verdict = { readonly working: boolean; readonly answered: boolean };

/** What is known of a connection besides its socket. `moved`: data went either way since the look before. */
type History = {
  readonly isNew: boolean;
  readonly firstSeenMs: number;
  readonly moved: boolean;
  readonly past: Past;
};

export function addOpen(tally: Tally, socket: TcpSocket, history: History): Verdict {
  const { isNew, firstSeenMs, moved, past } = history;
  const seems = activityOf(socket);
  const settled = isTied(socket) && isAnswered(socket, past);
  const activity = seems === "tied" && settled ? "idle" : seems;
  if (addCount(tally, activity)) tally.left.push(openConnection(socket, tally.nowMs - firstSeenMs));
  const ageMs = dataAgeMs(socket);
  // A tie may be an answered request: the bytes are evidence, the doubt is not.
  // What has not moved is dated already: dating it again would add up the delays of the looks.
  if (activity !== "busy" && moved && (ageMs >= 0 || isNew)) addEvidence(tally, ageMs);
  return {
    working: activity === "busy" || activity === "tied",
    answered: activity === "idle" && (settled || !isTied(socket)),
  };
}

/** A connection that ended and left a trace: the trace dates it. */
export function addEnded(tally: Tally, socket: TcpSocket): void {
  const ageMs = dataAgeMs(socket);
  addEvidence(tally, ageMs >= 0 ? ageMs : socket.lastAckReceivedMs);
}

/** @returns whether the connection is among those that are named */
export function addCount(tally: Tally, activity: Activity): boolean {
  tally.open = tally.open + 1;
  if (activity === "busy") {
    tally.busy = tally.busy + 1;
    addPresent(tally);
  } else if (activity === "tied") tally.tied = tally.tied + 1;
  else if (activity === "unknown") tally.unknown = tally.unknown + 1;
  return tally.left.length < LEFT_LIMIT;
}

export function openConnection(socket: TcpSocket, ageMs: number): OpenConnection {
  return {
    local: endpointText(socket.localAddress, socket.localPort),
    peer: endpointText(socket.peerAddress, socket.peerPort),
    ageMs: Math.round(ageMs),
    state: stateName(socket.state),
  };
}
