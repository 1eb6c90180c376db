/** What is remembered of each connection from look to look; gone when a look no longer shows it. */
import { FOLLOWED_LIMIT } from "../../contract/drain-report.ts";
import type { TcpSocket } from "../sockets/reading.ts";
import { type ConnectionRecords, createConnectionRecords } from "./connection-records.ts";
import type { Past } from "./quiet.ts";

/** What a connection is to the drain. `own`: between containers of the Pod. `probe`: the kubelet's, not traffic. */
export type Kind = "traffic" | "own" | "probe";

export type Seen = {
  /** To the millisecond. */
  readonly firstSeenMs: number;
  readonly open: boolean;
  readonly working: boolean;
  readonly kind: Kind;
  /** -1 where the source does not count. */
  readonly dataSegmentsReceived: number;
  readonly dataSegmentsSent: number;
  readonly pureAcksSent: number;
  readonly past: Past;
};

export type ConnectionMemory = {
  /** Before the first `find` of every look, whatever became of the one before. */
  readonly begin: (nowMs: number) => void;
  /** @returns the number of its record, or -1; good until the end of the look */
  readonly find: (socket: TcpSocket) => number;
  /** Makes room for a connection that `find` did not know. @returns -1 where there is none left */
  readonly enter: (socket: TcpSocket) => number;
  /** It was kept in this look already. */
  readonly isKept: (record: number) => boolean;
  readonly recall: (record: number) => Seen;
  readonly keep: (record: number, seen: Seen) => void;
  /** It was open in the look before, no probe, and nothing went either way since: its past is as it was. */
  readonly isStill: (record: number, socket: TcpSocket) => boolean;
  readonly firstSeenMs: (record: number) => number;
  /** Keeps one that is still. @param working otherwise all that ever came is certainly answered */
  readonly keepStill: (record: number, working: boolean) => void;
  /** Forgets what this look did not keep. @returns how many of these were at work */
  readonly forgetGone: () => number;
};

const FIRST_SEEN = 0;
const RECEIVED = 1;
const SENT = 2;
const ACKS = 3;

const KEPT = 1;
const OPEN = 2;
const WORKING = 4;
const OWN = 8;
const PROBE = 16;
/** The source counts segments. */
const COUNTED = 32;
/**
 * The past, as far as it can still prove anything. Counters of a connection only grow, so it is enough to know whether
 * an acknowledgement went out on its own since then, and whether one segment, more than one, or none came and went since
 * all was answered.
 */
const ACKED = 64;
const CAME_ONE = 128;
const CAME_MORE = 256;
const WENT = 512;

/** @param random for {@link createConnectionRecords}, as is the limit */
export function createConnectionMemory(random: () => number, limit = FOLLOWED_LIMIT): ConnectionMemory {
  const records: ConnectionRecords = createConnectionRecords(random, limit);
  let startMs = -1;
  let whole = true;

  const has = (record: number, flag: number): boolean => (records.flags(record) & flag) !== 0;

  return {
    begin: (nowMs) => {
      if (startMs < 0) startMs = nowMs;
      // What a look kept that ended early.
      if (!whole) for (let record = 0; record < records.count(); record = record + 1) unkeep(records, record);
      whole = false;
    },
    find: records.find,
    enter: records.enter,
    isKept: (record) => has(record, KEPT),
    recall: (record) => {
      const flags = records.flags(record);
      const counted = (flags & COUNTED) !== 0;
      const received = records.fact(record, RECEIVED);
      const sent = records.fact(record, SENT);
      const acks = records.fact(record, ACKS);
      return {
        firstSeenMs: startMs + records.fact(record, FIRST_SEEN),
        open: (flags & OPEN) !== 0,
        working: (flags & WORKING) !== 0,
        kind: kindOf(flags),
        dataSegmentsReceived: counted ? received : -1,
        dataSegmentsSent: counted ? sent : -1,
        pureAcksSent: counted ? acks : -1,
        past: {
          pureAcksBefore: (flags & ACKED) !== 0 ? -1 : acks,
          answeredIn: answeredIn(flags, received),
          answeredOut: (flags & WENT) !== 0 ? sent - 1 : sent,
        },
      };
    },
    keep: (record, seen) => {
      const counted = seen.dataSegmentsReceived >= 0 && seen.dataSegmentsSent >= 0 && seen.pureAcksSent >= 0;
      const received = counted ? seen.dataSegmentsReceived : 0;
      const sent = counted ? seen.dataSegmentsSent : 0;
      const acks = counted ? seen.pureAcksSent : 0;
      records.setFact(record, FIRST_SEEN, Math.floor(seen.firstSeenMs - startMs));
      records.setFact(record, RECEIVED, received);
      records.setFact(record, SENT, sent);
      records.setFact(record, ACKS, acks);
      records.setFlags(record, standing(seen) | (counted ? COUNTED : 0) | pastFlags(seen.past, received, sent, acks));
    },
    isStill: (record, socket) =>
      (records.flags(record) & (OPEN | COUNTED | PROBE)) === (OPEN | COUNTED) &&
      records.fact(record, RECEIVED) === socket.dataSegmentsReceived &&
      records.fact(record, SENT) === socket.dataSegmentsSent &&
      records.fact(record, ACKS) === socket.pureAcksSent,
    firstSeenMs: (record) => startMs + records.fact(record, FIRST_SEEN),
    keepStill: (record, working) => {
      const flags = records.flags(record) | KEPT;
      records.setFlags(record, working ? flags | WORKING : flags & ~(WORKING | CAME_ONE | CAME_MORE | WENT));
    },
    forgetGone: () => {
      let atWork = 0;
      records.retain((record) => {
        const kept = has(record, KEPT);
        if (kept) unkeep(records, record);
        else if (has(record, WORKING)) atWork = atWork + 1;
        return kept;
      });
      whole = true;
      return atWork;
    },
  };
}

function unkeep(records: ConnectionRecords, record: number): void {
  records.setFlags(record, records.flags(record) & ~KEPT);
}

function standing({ open, working, kind }: Seen): number {
  const of = kind === "own" ? OWN : kind === "probe" ? PROBE : 0;
  return KEPT | of | (open ? OPEN : 0) | (working ? WORKING : 0);
}

/** How far the past is from the counters as they are now. */
function pastFlags(past: Past, received: number, sent: number, acks: number): number {
  const came = past.answeredIn < 0 ? -1 : received - past.answeredIn;
  const more = came === 0 ? 0 : came === 1 ? CAME_ONE : CAME_MORE;
  return more | (acks === past.pureAcksBefore ? 0 : ACKED) | (sent > past.answeredOut ? WENT : 0);
}

function kindOf(flags: number): Kind {
  if ((flags & OWN) !== 0) return "own";
  return (flags & PROBE) !== 0 ? "probe" : "traffic";
}

function answeredIn(flags: number, received: number): number {
  if ((flags & CAME_MORE) !== 0) return -1;
  return (flags & CAME_ONE) !== 0 ? received - 1 : received;
}
