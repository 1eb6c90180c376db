/** Counts the connections of one sample by activity, and finds the time of the newest traffic. */
import { LEFT_LIMIT, type OpenConnection } from "../../contract/drain-report.ts";
import { endpointText } from "../sockets/address-text.ts";
import type { TcpSocket } from "../sockets/reading.ts";
import { stateName } from "../sockets/tcp-states.ts";
import { CYCLING, type ExchangeStep, isCycling } from "./cycling.ts";
import { type AckHistory, type Activity, activityOf, dataAgeMs, isAmbiguous, isAnswered } from "./quiet.ts";

export type ConnectionCounts = {
  nowMs: number;
  readonly isFirst: boolean;
  open: number;
  busy: number;
  ambiguous: number;
  unknown: number;
  newConnections: number;
  /** New connections of clients; `newConnections` also contains those of probes. */
  arrivals: number;
  untracked: number;
  /** Connections that completed two exchanges. `cyclingBusy` and `cyclingAmbiguous` omit those that wait for a slow response. */
  cycling: number;
  cyclingBusy: number;
  cyclingAmbiguous: number;
  /** Whether a connection is busy or in its handshake, which is traffic at the time of the sample. */
  hasWorking: boolean;
  hasOthersWorking: boolean;
  /** Monotonic time of the newest traffic; -1 without traffic in this sample. */
  evidenceMs: number;
  /** Monotonic time of the newest traffic of connections that are not cycling; -1 without such traffic. */
  othersEvidenceMs: number;
  readonly left: OpenConnection[];
};

export function createCounts(nowMs: number, isFirst: boolean): ConnectionCounts {
  return {
    nowMs,
    isFirst,
    open: 0,
    busy: 0,
    ambiguous: 0,
    unknown: 0,
    newConnections: 0,
    arrivals: 0,
    untracked: 0,
    cycling: 0,
    cyclingBusy: 0,
    cyclingAmbiguous: 0,
    hasWorking: false,
    hasOthersWorking: false,
    evidenceMs: -1,
    othersEvidenceMs: -1,
    left: [],
  };
}

export function addCurrentEvidence(counts: ConnectionCounts, cycles: boolean): void {
  counts.hasWorking = true;
  if (!cycles) counts.hasOthersWorking = true;
  addEvidence(counts, 0, cycles);
}

/**
 * @param ageMs age of the traffic; negative if unknown, which counts as 0
 * @param cycles whether the traffic is that of a cycling connection
 */
export function addEvidence(counts: ConnectionCounts, ageMs: number, cycles: boolean): void {
  const evidenceMs = counts.nowMs - Math.max(0, ageMs);
  counts.evidenceMs = Math.max(counts.evidenceMs, evidenceMs);
  if (!cycles) counts.othersEvidenceMs = Math.max(counts.othersEvidenceMs, evidenceMs);
}

/** `working`: a request may be in progress. `answered`: all received data is certainly answered. */
export type OpenResult = { readonly working: boolean; readonly answered: boolean };

/** `hasNewData`: data was sent or received since the last sample. */
type History = {
  readonly isNew: boolean;
  readonly firstSampledAtMs: number;
  readonly hasNewData: boolean;
  readonly ackHistory: AckHistory;
  readonly exchange: ExchangeProgress;
};

/** The connection's progress through exchanges during the drain; `outstandingSinceMs`: time from which a response has been outstanding. */
export type ExchangeProgress = { readonly step: ExchangeStep; readonly outstandingSinceMs: number };

export function addOpen(counts: ConnectionCounts, socket: TcpSocket, history: History): OpenResult {
  const { isNew, firstSampledAtMs, hasNewData, ackHistory, exchange } = history;
  const rawActivity = activityOf(socket);
  const isSettled = isAmbiguous(socket) && isAnswered(socket, ackHistory);
  const activity = rawActivity === "ambiguous" && isSettled ? "idle" : rawActivity;
  const cycles = isCycling(exchange.step, activity, counts.nowMs - exchange.outstandingSinceMs);
  if (addCount(counts, activity, exchange.step, cycles))
    counts.left.push(openConnection(socket, counts.nowMs - firstSampledAtMs));
  const ageMs = dataAgeMs(socket);
  // An ambiguous connection does not count as active at the time of the sample, because its request may already have its response; only
  // the time of its last data counts. Data counts once: a delayed second sample would compute a later time for it.
  if (activity !== "busy" && hasNewData && (ageMs >= 0 || isNew)) addEvidence(counts, ageMs, cycles);
  return {
    working: activity === "busy" || activity === "ambiguous",
    answered: activity === "idle" && (isSettled || !isAmbiguous(socket)),
  };
}

/** Determines the time of the traffic of an ended connection from its TIME_WAIT entry. */
export function addEnded(counts: ConnectionCounts, socket: TcpSocket, cycled: boolean): void {
  const ageMs = dataAgeMs(socket);
  addEvidence(counts, ageMs >= 0 ? ageMs : socket.lastAckReceivedMs, cycled);
}

/** @returns whether the list of connections for the report has space */
export function addCount(counts: ConnectionCounts, activity: Activity, step: ExchangeStep, cycles: boolean): boolean {
  counts.open = counts.open + 1;
  if (step === CYCLING) counts.cycling = counts.cycling + 1;
  if (cycles && activity === "busy") counts.cyclingBusy = counts.cyclingBusy + 1;
  if (cycles && activity === "ambiguous") counts.cyclingAmbiguous = counts.cyclingAmbiguous + 1;
  if (activity === "busy") {
    counts.busy = counts.busy + 1;
    addCurrentEvidence(counts, cycles);
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
