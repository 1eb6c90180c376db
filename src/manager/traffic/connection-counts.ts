/** Counts the connections of one sample by activity, with the time of the newest traffic. */
import { LEFT_LIMIT, type OpenConnection } from "../../contract/drain-report.ts";
import { endpointText } from "../sockets/address-text.ts";
import type { TcpSocket } from "../sockets/reading.ts";
import { stateName } from "../sockets/tcp-states.ts";
import { type Activity, activityOf, dataAgeMs, isAmbiguous, isAnswered, type Past } from "./quiet.ts";

export type ConnectionCounts = {
  nowMs: number;
  readonly first: boolean;
  open: number;
  busy: number;
  ambiguous: number;
  unknown: number;
  arrived: number;
  untracked: number;
  /** Some connection is busy or in its handshake, which is evidence at the time of the sample. */
  atWork: boolean;
  /** Monotonic; -1 without traffic in this sample. */
  evidenceMs: number;
  readonly left: OpenConnection[];
};

export function createCounts(nowMs: number, first: boolean): ConnectionCounts {
  return {
    nowMs,
    first,
    open: 0,
    busy: 0,
    ambiguous: 0,
    unknown: 0,
    arrived: 0,
    untracked: 0,
    atWork: false,
    evidenceMs: -1,
    left: [],
  };
}

export function addPresent(counts: ConnectionCounts): void {
  counts.atWork = true;
  addEvidence(counts, 0);
}

/** @param ageMs negative if unknown, which counts as now */
export function addEvidence(counts: ConnectionCounts, ageMs: number): void {
  counts.evidenceMs = Math.max(counts.evidenceMs, counts.nowMs - Math.max(0, ageMs));
}

/** Both are false if unknown. */
export type OpenResult = { readonly working: boolean; readonly answered: boolean };

/** `moved`: data was sent or received since the last sample. */
type History = {
  readonly isNew: boolean;
  readonly firstSeenMs: number;
  readonly moved: boolean;
  readonly past: Past;
};

export function addOpen(counts: ConnectionCounts, socket: TcpSocket, history: History): OpenResult {
  const { isNew, firstSeenMs, moved, past } = history;
  const seems = activityOf(socket);
  const settled = isAmbiguous(socket) && isAnswered(socket, past);
  const activity = seems === "ambiguous" && settled ? "idle" : seems;
  if (addCount(counts, activity)) counts.left.push(openConnection(socket, counts.nowMs - firstSeenMs));
  const ageMs = dataAgeMs(socket);
  // An ambiguous order may be an answered request: the bytes are evidence, the doubt is not.
  // An unmoved connection is dated already; dating it again would accumulate the delays of samples.
  if (activity !== "busy" && moved && (ageMs >= 0 || isNew)) addEvidence(counts, ageMs);
  return {
    working: activity === "busy" || activity === "ambiguous",
    answered: activity === "idle" && (settled || !isAmbiguous(socket)),
  };
}

/** A TIME_WAIT entry dates the end of a connection. */
export function addEnded(counts: ConnectionCounts, socket: TcpSocket): void {
  const ageMs = dataAgeMs(socket);
  addEvidence(counts, ageMs >= 0 ? ageMs : socket.lastAckReceivedMs);
}

export function addCount(counts: ConnectionCounts, activity: Activity): boolean {
  counts.open = counts.open + 1;
  if (activity === "busy") {
    counts.busy = counts.busy + 1;
    addPresent(counts);
  } else if (activity === "ambiguous") counts.ambiguous = counts.ambiguous + 1;
  else if (activity === "unknown") counts.unknown = counts.unknown + 1;
  return counts.left.length < LEFT_LIMIT;
}

export function openConnection(socket: TcpSocket, ageMs: number): OpenConnection {
  return {
    local: endpointText(socket.localAddress, socket.localPort),
    peer: endpointText(socket.peerAddress, socket.peerPort),
    ageMs: Math.round(ageMs),
    state: stateName(socket.state),
  };
}
