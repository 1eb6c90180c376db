/** Tests which destroyed sockets the traffic monitor counts as connections of clients without a response. */
import { describe, expect, test } from "vitest";
import * as tcp from "../../src/manager/sockets/tcp-states.ts";
import { type TextSocket, toTcpSocket } from "./socket-lists.ts";
import { CLIENT, createTestMonitor, listener, POD, reading, socket } from "./traffic-room.ts";

const ambiguous = { lastDataSentMs: 40, lastDataReceivedMs: 40, lastAckReceivedMs: 40 };

/** A monitor whose last sample has the connection, and is 10 s old. */
function monitorAfter(connections: readonly TextSocket[]) {
  const { monitor, sample } = createTestMonitor();
  sample(reading([listener(), ...connections]), 1_000);
  return monitor;
}

describe("a destroyed socket is a connection of a client", () => {
  test.for([
    { title: "with an address of another Pod", overrides: {}, isClient: true },
    { title: "but not if it is a listener", overrides: { peerPort: 0 }, isClient: false },
    { title: "but not if both ends are in the Pod", overrides: { peerAddress: POD }, isClient: false },
    { title: "but not on loopback", overrides: { peerAddress: "127.0.0.1" }, isClient: false },
    { title: "but not on the manager's port", overrides: { localPort: 17_890 }, isClient: false },
    { title: "but not if the Pod opened it", overrides: { localPort: 40_123, peerPort: 5_432 }, isClient: false },
  ])("$title", ({ overrides, isClient }) => {
    const monitor = monitorAfter([socket()]);
    expect(monitor.isClient(toTcpSocket(socket({ state: tcp.CLOSE_WAIT, peerAddress: CLIENT, ...overrides })))).toBe(
      isClient,
    );
  });
});

describe("a destroyed connection is compared with the last sample", () => {
  const answered = socket({ dataSegmentsReceived: 6, dataSegmentsSent: 12 });
  const ended = (received: number, sent: number) =>
    toTcpSocket(socket({ ...ambiguous, dataSegmentsReceived: received, dataSegmentsSent: sent }));

  test("and is unanswered if it received more than it sent since", () => {
    const monitor = monitorAfter([answered]);
    expect(monitor.isClosedUnanswered(ended(6, 12))).toBe(false);
    expect(monitor.isClosedUnanswered(ended(7, 13))).toBe(false);
    expect(monitor.isClosedUnanswered(ended(7, 12))).toBe(true);
  });

  test("and starts without data if the sample does not have it", () => {
    const monitor = monitorAfter([]);
    expect(monitor.isClosedUnanswered(ended(1, 1))).toBe(false);
    expect(monitor.isClosedUnanswered(ended(2, 1))).toBe(true);
  });
});
