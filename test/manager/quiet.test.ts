import fc from "fast-check";
import { describe, expect, test } from "vitest";
import * as tcp from "../../src/manager/sockets/tcp-states.ts";
import { activityOf, dataAgeMs } from "../../src/manager/traffic/quiet.ts";
import { inWords, type TextSocket } from "./socket-lists.ts";
import { socket as textSocket } from "./traffic-room.ts";

const socket = (over: Partial<TextSocket>) => inWords(textSocket(over));

const ages = (sent: number, received: number, ack: number) => ({
  lastDataSentMs: sent,
  lastDataReceivedMs: received,
  lastAckReceivedMs: ack,
});

describe("a connection", () => {
  test.for([
    { says: "idle after its answer is acknowledged", activity: "idle", over: ages(2_000, 2_004, 1_960) },
    {
      says: "idle when request and answer share a jiffy and the acknowledgement came later",
      activity: "idle",
      over: ages(2_000, 2_000, 1_956),
    },
    { says: "busy when the peer spoke last", activity: "busy", over: ages(2_000, 1_200, 1_200) },
    { says: "busy when the peer spoke one jiffy later", activity: "busy", over: ages(104, 100, 100) },
    { says: "an ambiguous order when all three share a jiffy", activity: "ambiguous", over: ages(300, 300, 300) },
    { says: "an ambiguous order just below ten seconds", activity: "ambiguous", over: ages(9_996, 9_996, 9_996) },
    {
      says: "idle when an ambiguous order has lasted ten seconds",
      activity: "idle",
      over: ages(10_000, 10_000, 10_000),
    },
    { says: "idle when it never sent a byte", activity: "idle", over: { ...ages(700, 700, 700), bytesReceived: 0 } },
    {
      says: "busy when nothing was ever sent to a client that sent something",
      activity: "busy",
      over: { ...ages(700, 700, 700), dataSegmentsSent: 0 },
    },
    { says: "idle between the events of a stream", activity: "idle", over: ages(800, 4_000, 760) },
    { says: "busy with unread bytes", activity: "busy", over: { receiveQueue: 1 } },
    { says: "busy with unsent bytes", activity: "busy", over: { sendQueue: 1 } },
    {
      says: "idle when only the FIN of the client is unread",
      activity: "idle",
      over: { state: tcp.CLOSE_WAIT, receiveQueue: 1 },
    },
    {
      says: "busy when more than the FIN is unread",
      activity: "busy",
      over: { state: tcp.CLOSE_WAIT, receiveQueue: 2 },
    },
    {
      says: "busy when a half-closed client waits for its answer",
      activity: "busy",
      over: { state: tcp.CLOSE_WAIT, receiveQueue: 1, ...ages(900, 300, 300) },
    },
    {
      says: "idle when only our FIN is unacknowledged",
      activity: "idle",
      over: { state: tcp.FIN_WAIT1, sendQueue: 1 },
    },
    {
      says: "idle in LAST_ACK with both FINs queued",
      activity: "idle",
      over: { state: tcp.LAST_ACK, sendQueue: 1, receiveQueue: 1 },
    },
    { says: "busy when our FIN stands behind data", activity: "busy", over: { state: tcp.FIN_WAIT1, sendQueue: 900 } },
    {
      says: "idle when the server closed without answering",
      activity: "idle",
      over: { state: tcp.CLOSING, receiveQueue: 1, sendQueue: 1, ...ages(900, 300, 300) },
    },
    { says: "unknown without ages", activity: "unknown", over: ages(-1, -1, -1) },
    {
      says: "busy with unread bytes even without ages",
      activity: "busy",
      over: { ...ages(-1, -1, -1), receiveQueue: 3 },
    },
  ] as const)("is $says", ({ activity, over }) => {
    expect(activityOf(socket(over))).toBe(activity);
  });

  test("is busy whenever anything is unread or unsent, whatever the ages say", () => {
    fc.assert(
      fc.property(
        fc.nat(20_000),
        fc.nat(20_000),
        fc.nat(20_000),
        fc.integer({ min: 1 }),
        fc.boolean(),
        (s, r, a, n, unread) => {
          const queue = unread ? { receiveQueue: n } : { sendQueue: n };
          return activityOf(socket({ ...ages(s, r, a), ...queue })) === "busy";
        },
      ),
    );
  });

  test("is never idle while the client sent last", () => {
    fc.assert(
      fc.property(fc.nat(1_000_000), fc.integer({ min: 1, max: 1_000_000 }), fc.nat(), (received, later, ack) => {
        return activityOf(socket(ages(received + later, received, ack))) === "busy";
      }),
    );
  });

  test("has the age of the newer of its two directions", () => {
    expect(dataAgeMs(socket(ages(40, 90, 1)))).toBe(40);
    expect(dataAgeMs(socket(ages(90, 40, 1)))).toBe(40);
    expect(dataAgeMs(socket(ages(-1, -1, -1)))).toBe(-1);
  });
});
