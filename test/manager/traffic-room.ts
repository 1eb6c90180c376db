/** Sockets and readings for tests of the judge, with everything a test does not care about filled in. */
import { DEFAULT_SETTINGS, type DrainSettings } from "../../src/contract/drain-settings.ts";
import type { Reading } from "../../src/manager/sockets/reading.ts";
import * as tcp from "../../src/manager/sockets/tcp-states.ts";
import { createConnectionMemory } from "../../src/manager/traffic/connection-memory.ts";
import type { Observation } from "../../src/manager/traffic/observation.ts";
import {
  createTrafficMonitor,
  type OwnConnections,
  type TrafficMonitor,
} from "../../src/manager/traffic/traffic-monitor.ts";
import { inWords, type TextSocket } from "./socket-lists.ts";

export const POD = "10.1.0.7";
export const CLIENT = "10.2.0.9";
export const NODE = "10.0.0.1";

export function socket(over: Partial<TextSocket> = {}): TextSocket {
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

export function listener(over: Partial<TextSocket> = {}): TextSocket {
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

/** What one look shows, all at once. */
export type Shown = Omit<Reading, "sockets"> & {
  readonly sockets: readonly TextSocket[];
  readonly udpPorts: readonly number[];
};

export function reading(sockets: readonly TextSocket[], over: Partial<Shown> = {}): Shown {
  return { source: "netlink", sockets, udpPorts: [], passiveOpens: 100, activeOpens: 50, ...over };
}

/** Shows a judge what there is in the order of a look: datagrams, then listeners, then connections. */
export function show(judge: TrafficMonitor, shown: Shown, nowMs: number): void {
  judge.startSample(nowMs);
  shown.udpPorts.every((port) => judge.addUdpPort(port));
  const listens = (socket: TextSocket) => socket.state === tcp.LISTEN;
  for (const socket of shown.sockets.filter(listens)) judge.addListener(inWords(socket));
  for (const socket of shown.sockets) if (!listens(socket)) judge.addConnection(inWords(socket), nowMs);
}

/** One whole look. */
export function observed(judge: TrafficMonitor, shown: Shown, nowMs: number, own: OwnConnections): Observation {
  show(judge, shown, nowMs);
  return judge.finishSample({ ...shown, sockets: shown.sockets.length }, nowMs, own);
}

export type Known = Extract<Observation, { known: true }>;

/** A judge whose answers are known ones, or the test fails. */
export function judging(over: Partial<DrainSettings> = {}, memory = createConnectionMemory(Math.random)) {
  const judge = createTrafficMonitor({ ...DEFAULT_SETTINGS, ...over }, memory);
  return {
    judge,
    look: (at: Shown, nowMs: number, dials = 0, accepts = 0, dialsOut = 0): Known => {
      const seen = observed(judge, at, nowMs, { dials, dialsOut, accepts });
      if (!seen.known) throw new Error(`not known: ${seen.why}`);
      return seen;
    },
  };
}
