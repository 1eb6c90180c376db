/** Stores the state of each connection between samples, until a sample does not contain the connection any more. */
import { TRACKED_LIMIT } from "../../contract/drain-report.ts";
import type { TcpSocket } from "../sockets/reading.ts";
import { type ConnectionRecords, createConnectionRecords } from "./connection-records.ts";
import { CYCLING, type ExchangeStep } from "./cycling.ts";
import type { AckHistory } from "./quiet.ts";

/** `own`: between containers of the Pod. `probe`: a probe of the kubelet, which is not traffic. */
export type ConnectionKind = "traffic" | "own" | "probe";

export type TrackedConnection = {
  readonly firstSampledAtMs: number;
  readonly open: boolean;
  readonly working: boolean;
  readonly kind: ConnectionKind;
  /** -1 if the source does not have counters. */
  readonly dataSegmentsReceived: number;
  readonly dataSegmentsSent: number;
  readonly pureAcksSent: number;
  readonly ackHistory: AckHistory;
  readonly exchangeStep: ExchangeStep;
  /** Time from which a response has been outstanding, if the connection is working. */
  readonly outstandingSinceMs: number;
};

/** Numbers of connections that had a request in progress in the last sample, and that this sample does not contain. */
export type MissingConnections = { readonly workingCount: number; readonly cyclingWorkingCount: number };

export type ConnectionMemory = {
  readonly startSample: (nowMs: number) => void;
  readonly find: (socket: TcpSocket) => number;
  readonly add: (socket: TcpSocket) => number;
  readonly isStored: (record: number) => boolean;
  readonly load: (record: number) => TrackedConnection;
  readonly store: (record: number, connection: TrackedConnection) => void;
  /** Whether the connection was open in the last sample, is not a probe, and has not had traffic since. */
  readonly isUnchanged: (record: number, socket: TcpSocket) => boolean;
  readonly firstSampledAtMs: (record: number) => number;
  readonly exchangeStep: (record: number) => ExchangeStep;
  readonly outstandingSinceMs: (record: number) => number;
  /** @param working false if all received data is certainly answered */
  readonly storeUnchanged: (record: number, working: boolean) => void;
  /** Deletes the records of connections that were not stored in this sample. */
  readonly dropMissing: () => MissingConnections;
};

const FIRST_SAMPLED = 0;
const RECEIVED = 1;
const SENT = 2;
const ACKS = 3;
const OUTSTANDING_SINCE = 4;

const STORED = 1;
const OPEN = 2;
const WORKING = 4;
const OWN = 8;
const PROBE = 16;
const HAS_COUNTERS = 32;
/**
 * Four flags that replace the counters of `AckHistory`, because only their increases matter. ACKED: a pure acknowledgement was sent
 * since `pureAcksBefore` was recorded. RECEIVED_ONE, RECEIVED_MORE: one segment, or more, was received since the app had responded
 * to all received data. SENT_SINCE: a segment was sent since then.
 */
const ACKED = 64;
const RECEIVED_ONE = 128;
const RECEIVED_MORE = 256;
const SENT_SINCE = 512;
/** The lowest of the three bits that contain the exchange step. */
const EXCHANGE_STEP = 1_024;

export function createConnectionMemory(random: () => number, limit = TRACKED_LIMIT): ConnectionMemory {
  const records: ConnectionRecords = createConnectionRecords(random, limit);
  let startMs = -1;
  let isFinished = true;

  const hasFlag = (record: number, flag: number): boolean => (records.flags(record) & flag) !== 0;

  return {
    startSample: (nowMs) => {
      if (startMs < 0) startMs = nowMs;
      // Clears the STORED flags of an unfinished sample.
      if (!isFinished) for (let record = 0; record < records.count(); record = record + 1) clearStored(records, record);
      isFinished = false;
    },
    find: records.find,
    add: records.add,
    isStored: (record) => hasFlag(record, STORED),
    load: (record) => {
      const flags = records.flags(record);
      const hasCounters = (flags & HAS_COUNTERS) !== 0;
      const received = records.field(record, RECEIVED);
      const sent = records.field(record, SENT);
      const acks = records.field(record, ACKS);
      return {
        firstSampledAtMs: startMs + records.field(record, FIRST_SAMPLED),
        open: (flags & OPEN) !== 0,
        working: (flags & WORKING) !== 0,
        kind: kindOf(flags),
        dataSegmentsReceived: hasCounters ? received : -1,
        dataSegmentsSent: hasCounters ? sent : -1,
        pureAcksSent: hasCounters ? acks : -1,
        ackHistory: {
          pureAcksBefore: (flags & ACKED) !== 0 ? -1 : acks,
          answeredReceived: answeredIn(flags, received),
          answeredSent: (flags & SENT_SINCE) !== 0 ? sent - 1 : sent,
        },
        exchangeStep: exchangeStepIn(flags),
        outstandingSinceMs: startMs + records.field(record, OUTSTANDING_SINCE),
      };
    },
    store: (record, connection) => {
      const hasCounters =
        connection.dataSegmentsReceived >= 0 && connection.dataSegmentsSent >= 0 && connection.pureAcksSent >= 0;
      const received = hasCounters ? connection.dataSegmentsReceived : 0;
      const sent = hasCounters ? connection.dataSegmentsSent : 0;
      const acks = hasCounters ? connection.pureAcksSent : 0;
      records.setField(record, FIRST_SAMPLED, Math.floor(connection.firstSampledAtMs - startMs));
      records.setField(record, OUTSTANDING_SINCE, Math.max(0, Math.floor(connection.outstandingSinceMs - startMs)));
      records.setField(record, RECEIVED, received);
      records.setField(record, SENT, sent);
      records.setField(record, ACKS, acks);
      records.setFlags(
        record,
        stateFlags(connection) |
          (hasCounters ? HAS_COUNTERS : 0) |
          ackHistoryFlags(connection.ackHistory, received, sent, acks) |
          (connection.exchangeStep * EXCHANGE_STEP),
      );
    },
    isUnchanged: (record, socket) =>
      (records.flags(record) & (OPEN | HAS_COUNTERS | PROBE)) === (OPEN | HAS_COUNTERS) &&
      records.field(record, RECEIVED) === socket.dataSegmentsReceived &&
      records.field(record, SENT) === socket.dataSegmentsSent &&
      records.field(record, ACKS) === socket.pureAcksSent,
    firstSampledAtMs: (record) => startMs + records.field(record, FIRST_SAMPLED),
    exchangeStep: (record) => exchangeStepIn(records.flags(record)),
    outstandingSinceMs: (record) => startMs + records.field(record, OUTSTANDING_SINCE),
    storeUnchanged: (record, working) => {
      const flags = records.flags(record) | STORED;
      records.setFlags(
        record,
        working ? flags | WORKING : flags & ~(WORKING | RECEIVED_ONE | RECEIVED_MORE | SENT_SINCE),
      );
    },
    dropMissing: () => {
      let workingCount = 0;
      let cyclingWorkingCount = 0;
      records.retain((record) => {
        const isStored = hasFlag(record, STORED);
        if (isStored) clearStored(records, record);
        else if (hasFlag(record, WORKING)) {
          workingCount = workingCount + 1;
          if (exchangeStepIn(records.flags(record)) === CYCLING) cyclingWorkingCount = cyclingWorkingCount + 1;
        }
        return isStored;
      });
      isFinished = true;
      return { workingCount, cyclingWorkingCount };
    },
  };
}

function clearStored(records: ConnectionRecords, record: number): void {
  records.setFlags(record, records.flags(record) & ~STORED);
}

function stateFlags({ open, working, kind }: TrackedConnection): number {
  const kindFlag = kind === "own" ? OWN : kind === "probe" ? PROBE : 0;
  return STORED | kindFlag | (open ? OPEN : 0) | (working ? WORKING : 0);
}

function ackHistoryFlags(ackHistory: AckHistory, received: number, sent: number, acks: number): number {
  const receivedSince = ackHistory.answeredReceived < 0 ? -1 : received - ackHistory.answeredReceived;
  const receivedFlag = receivedSince === 0 ? 0 : receivedSince === 1 ? RECEIVED_ONE : RECEIVED_MORE;
  return (
    receivedFlag | (acks === ackHistory.pureAcksBefore ? 0 : ACKED) | (sent > ackHistory.answeredSent ? SENT_SINCE : 0)
  );
}

function exchangeStepIn(flags: number): ExchangeStep {
  return (flags >>> 10) & 7;
}

function kindOf(flags: number): ConnectionKind {
  if ((flags & OWN) !== 0) return "own";
  return (flags & PROBE) !== 0 ? "probe" : "traffic";
}

function answeredIn(flags: number, received: number): number {
  if ((flags & RECEIVED_MORE) !== 0) return -1;
  return (flags & RECEIVED_ONE) !== 0 ? received - 1 : received;
}
