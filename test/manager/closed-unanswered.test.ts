/** Tests which destroyed sockets the traffic monitor counts as connections of clients without a response. */
import { describe, expect, test } from "vitest";
import * as tcp from "../../src/manager/sockets/tcp-states.ts";
import { type TextSocket, toTcpSocket } from "./socket-lists.ts";
import { CLIENT_ADDRESS, createTestMonitor, listener, POD_ADDRESS, reading, socket } from "./traffic-room.ts";

const ambiguousAges = { lastDataSentMs: 40, lastDataReceivedMs: 40, lastAckReceivedMs: 40 };

/** A monitor after one sample that contains these connections. */
function createMonitorAfter(connections: readonly TextSocket[]) {
  const { monitor, sample } = createTestMonitor();
  sample(reading([listener(), ...connections]), 1_000);
  return monitor;
}

describe("a destroyed socket", () => {
  test.for([
    { title: "counts as a client's connection if its peer is another Pod", overrides: {}, isClient: true },
    {
      title: "does not count as a client's connection if it is a listener",
      overrides: { peerPort: 0 },
      isClient: false,
    },
    {
      title: "does not count as a client's connection if both ends are in the Pod",
      overrides: { peerAddress: POD_ADDRESS },
      isClient: false,
    },
    {
      title: "does not count as a client's connection if its peer has a loopback address",
      overrides: { peerAddress: "127.0.0.1" },
      isClient: false,
    },
    {
      title: "does not count as a client's connection if its local port is the manager's",
      overrides: { localPort: 17_890 },
      isClient: false,
    },
    {
      title: "does not count as a client's connection if the Pod opened it",
      overrides: { localPort: 40_123, peerPort: 5_432 },
      isClient: false,
    },
  ])("$title", ({ overrides, isClient }) => {
    const monitor = createMonitorAfter([socket()]);
    expect(
      monitor.isClientSocket(toTcpSocket(socket({ state: tcp.CLOSE_WAIT, peerAddress: CLIENT_ADDRESS, ...overrides }))),
    ).toBe(isClient);
  });
});

describe("a destroyed connection", () => {
  const answeredSocket = socket({ dataSegmentsReceived: 6, dataSegmentsSent: 12 });
  const endedSocket = (received: number, sent: number) =>
    toTcpSocket(socket({ ...ambiguousAges, dataSegmentsReceived: received, dataSegmentsSent: sent }));

  test("counts as closed without a response if it received more segments than it sent since the last sample", () => {
    const monitor = createMonitorAfter([answeredSocket]);
    expect(monitor.isClosedUnanswered(endedSocket(6, 12))).toBe(false);
    expect(monitor.isClosedUnanswered(endedSocket(7, 13))).toBe(false);
    expect(monitor.isClosedUnanswered(endedSocket(7, 12))).toBe(true);
  });

  test("has its segments counted from zero if the last sample does not contain the connection", () => {
    const monitor = createMonitorAfter([]);
    expect(monitor.isClosedUnanswered(endedSocket(1, 1))).toBe(false);
    expect(monitor.isClosedUnanswered(endedSocket(2, 1))).toBe(true);
  });
});
