import fc from "fast-check";
import { describe, expect, test } from "vitest";
import * as tcp from "../../src/manager/sockets/tcp-states.ts";
import {
  activityOf,
  dataAgeMs,
  isClosedUnanswered,
  NEW_ACK_HISTORY,
  NO_ACK_HISTORY,
} from "../../src/manager/traffic/quiet.ts";
import { type TextSocket, toTcpSocket } from "./socket-lists.ts";
import { socket as textSocket } from "./traffic-room.ts";

const socket = (overrides: Partial<TextSocket>) => toTcpSocket(textSocket(overrides));

const dataAges = (sent: number, received: number, ack: number) => ({
  lastDataSentMs: sent,
  lastDataReceivedMs: received,
  lastAckReceivedMs: ack,
});

describe("the activity of a connection", () => {
  test.for([
    { title: "idle after its response is acknowledged", activity: "idle", overrides: dataAges(2_000, 2_004, 1_960) },
    {
      title: "idle if request and response are in the same jiffy and the acknowledgement came later",
      activity: "idle",
      overrides: dataAges(2_000, 2_000, 1_956),
    },
    { title: "busy if the peer sent the last data", activity: "busy", overrides: dataAges(2_000, 1_200, 1_200) },
    {
      title: "busy if the peer sent data one jiffy after the Pod",
      activity: "busy",
      overrides: dataAges(104, 100, 100),
    },
    {
      title: "ambiguous if request, response and acknowledgement are in the same jiffy",
      activity: "ambiguous",
      overrides: dataAges(300, 300, 300),
    },
    {
      title: "ambiguous if the last data is almost ten seconds old and its order unclear",
      activity: "ambiguous",
      overrides: dataAges(9_996, 9_996, 9_996),
    },
    {
      title: "idle if the order of the last data has been unclear for ten seconds",
      activity: "idle",
      overrides: dataAges(10_000, 10_000, 10_000),
    },
    {
      title: "idle if the client never sent a byte",
      activity: "idle",
      overrides: { ...dataAges(700, 700, 700), bytesReceived: 0 },
    },
    {
      title: "busy if the client has sent data and the server has not",
      activity: "busy",
      overrides: { ...dataAges(700, 700, 700), dataSegmentsSent: 0 },
    },
    { title: "idle between the events of a stream", activity: "idle", overrides: dataAges(800, 4_000, 760) },
    { title: "busy with unread bytes", activity: "busy", overrides: { receiveQueue: 1 } },
    { title: "busy with unsent bytes", activity: "busy", overrides: { sendQueue: 1 } },
    {
      title: "idle if only the FIN of the client is unread",
      activity: "idle",
      overrides: { state: tcp.CLOSE_WAIT, receiveQueue: 1 },
    },
    {
      title: "busy if more than the client's FIN is unread",
      activity: "busy",
      overrides: { state: tcp.CLOSE_WAIT, receiveQueue: 2 },
    },
    {
      title: "busy if a half-closed client waits for its response",
      activity: "busy",
      overrides: { state: tcp.CLOSE_WAIT, receiveQueue: 1, ...dataAges(900, 300, 300) },
    },
    {
      title: "idle if only the server's FIN is unacknowledged",
      activity: "idle",
      overrides: { state: tcp.FIN_WAIT1, sendQueue: 1 },
    },
    {
      title: "idle in LAST_ACK with both FINs queued",
      activity: "idle",
      overrides: { state: tcp.LAST_ACK, sendQueue: 1, receiveQueue: 1 },
    },
    {
      title: "busy if data is queued before the server's FIN",
      activity: "busy",
      overrides: { state: tcp.FIN_WAIT1, sendQueue: 900 },
    },
    {
      title: "idle if the server closed the connection without a response",
      activity: "idle",
      overrides: { state: tcp.CLOSING, receiveQueue: 1, sendQueue: 1, ...dataAges(900, 300, 300) },
    },
    { title: "unknown without tcp_info", activity: "unknown", overrides: dataAges(-1, -1, -1) },
    {
      title: "busy with unread bytes even without tcp_info",
      activity: "busy",
      overrides: { ...dataAges(-1, -1, -1), receiveQueue: 3 },
    },
  ] as const)("is $title", ({ activity, overrides }) => {
    expect(activityOf(socket(overrides))).toBe(activity);
  });

  test("is busy with unread or unsent bytes, for any times since the last data", () => {
    fc.assert(
      fc.property(
        fc.nat(20_000),
        fc.nat(20_000),
        fc.nat(20_000),
        fc.integer({ min: 1 }),
        fc.boolean(),
        (s, r, a, n, unread) => {
          const queue = unread ? { receiveQueue: n } : { sendQueue: n };
          return activityOf(socket({ ...dataAges(s, r, a), ...queue })) === "busy";
        },
      ),
    );
  });

  test("is never idle if the client sent the last data", () => {
    fc.assert(
      fc.property(fc.nat(1_000_000), fc.integer({ min: 1, max: 1_000_000 }), fc.nat(), (received, later, ack) => {
        return activityOf(socket(dataAges(received + later, received, ack))) === "busy";
      }),
    );
  });

  test("has the age of the newest data in the two directions", () => {
    expect(dataAgeMs(socket(dataAges(40, 90, 1)))).toBe(40);
    expect(dataAgeMs(socket(dataAges(90, 40, 1)))).toBe(40);
    expect(dataAgeMs(socket(dataAges(-1, -1, -1)))).toBe(-1);
  });
});

/** The kernel's state of every destroyed socket. */
const CLOSE = 7;

describe("a destroyed connection", () => {
  const segmentCounts = (received: number, sent: number) => ({
    dataSegmentsReceived: received,
    dataSegmentsSent: sent,
  });
  const answeredBefore = { pureAcksBefore: 0, answeredReceived: 6, answeredSent: 12 };
  test.for([
    {
      title: "after its response",
      verb: "does not count",
      overrides: { ...dataAges(40, 44, 0), ...segmentCounts(1, 1) },
    },
    { title: "without any data", verb: "does not count", overrides: segmentCounts(0, 0) },
    { title: "with a first request", verb: "counts", overrides: { ...dataAges(40, 40, 0), ...segmentCounts(1, 0) } },
    { title: "with a second request", verb: "counts", overrides: { ...dataAges(90, 40, 0), ...segmentCounts(2, 1) } },
    {
      title: "with an unread request, which the kernel resets,",
      verb: "does not count",
      overrides: { ...dataAges(90, 40, 0), ...segmentCounts(2, 1), receiveQueue: 57 },
    },
    {
      title: "with a read request and an unread FIN",
      verb: "counts",
      overrides: { ...dataAges(90, 40, 0), ...segmentCounts(2, 1), receiveQueue: 1 },
    },
    {
      title: "with request and response in the same jiffy",
      verb: "does not count",
      overrides: { ...dataAges(40, 40, 0), ...segmentCounts(1, 1) },
    },
    {
      title: "with a response and the next request in the same jiffy",
      verb: "counts",
      overrides: { ...dataAges(40, 40, 0), ...segmentCounts(2, 1) },
    },
    {
      title: "of a client that answered the server's close_notify with its own",
      verb: "does not count",
      overrides: { ...dataAges(4, 0, 0), ...segmentCounts(7, 13) },
      past: answeredBefore,
    },
    {
      title: "with a request since the last sample, after long responses,",
      verb: "counts",
      overrides: { ...dataAges(90, 40, 0), ...segmentCounts(7, 12) },
      past: answeredBefore,
    },
    {
      title: "with a request, if earlier requests may be unanswered too,",
      verb: "counts",
      overrides: { ...dataAges(90, 40, 0), ...segmentCounts(7, 12) },
      past: NO_ACK_HISTORY,
    },
    {
      title: "with all data in the same jiffy, as many segments in both directions, and an unknown past,",
      verb: "does not count",
      overrides: { ...dataAges(40, 40, 0), ...segmentCounts(15, 15) },
      past: NO_ACK_HISTORY,
    },
    {
      title: "without counters",
      verb: "does not count",
      overrides: { ...dataAges(-1, -1, -1), ...segmentCounts(-1, -1) },
    },
  ])("$title $verb as unanswered", ({ overrides, verb, past }) => {
    expect(isClosedUnanswered(socket({ state: CLOSE, receiveQueue: 0, ...overrides }), past ?? NEW_ACK_HISTORY)).toBe(
      verb === "counts",
    );
  });
});
