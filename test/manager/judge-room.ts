/** Sockets and readings for tests of the judge, with everything a test does not care about filled in. */
import { DEFAULT_SETTINGS, type DrainSettings } from "../../src/contract/drain-settings.ts";
import * as tcp from "../../src/manager/sockets/tcp-states.ts";
import { createJudge } from "../../src/manager/traffic/judge.ts";
import type { Observation, Reading, TcpSocket } from "../../src/manager/traffic/observation.ts";

export const POD = "10.1.0.7";
export const CLIENT = "10.2.0.9";
export const NODE = "10.0.0.1";

export function socket(over: Partial<TcpSocket> = {}): TcpSocket {
  return {
    family: 2,
    state: tcp.ESTABLISHED,
    localAddress: POD,
    localPort: 8080,
    peerAddress: CLIENT,
    peerPort: 50_000,
    uid: 1000,
    receiveQueue: 0,
    sendQueue: 0,
    lastDataSentMs: 5_000,
    lastDataReceivedMs: 5_004,
    lastAckReceivedMs: 4_960,
    bytesReceived: 100,
    dataSegmentsReceived: 2,
    dataSegmentsSent: 2,
    pureAcksSent: 1,
    ...over,
  };
}

export function listener(over: Partial<TcpSocket> = {}): TcpSocket {
  return socket({
    state: tcp.LISTEN,
    localAddress: "0.0.0.0",
    peerAddress: "0.0.0.0",
    peerPort: 0,
    lastDataSentMs: -1,
    lastDataReceivedMs: -1,
    lastAckReceivedMs: -1,
    bytesReceived: -1,
    ...over,
  });
}

export function reading(sockets: readonly TcpSocket[], over: Partial<Reading> = {}): Reading {
  return { source: "netlink", sockets, udpPorts: [], passiveOpens: 100, activeOpens: 50, ...over };
}

export type Known = Extract<Observation, { known: true }>;

/** A judge whose answers are known ones, or the test fails. */
export function judging(over: Partial<DrainSettings> = {}) {
  const judge = createJudge({ ...DEFAULT_SETTINGS, ...over });
  return {
    judge,
    look: (at: Reading, nowMs: number, dials = 0, accepts = 0, dialsOut = 0): Known => {
      const seen = judge.observe(at, nowMs, { dials, dialsOut, accepts });
      if (!seen.known) throw new Error(`not known: ${seen.why}`);
      return seen;
    },
  };
}
