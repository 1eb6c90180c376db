/** Builds sockets and readings with defaults, for tests of the traffic monitor. */
import { DEFAULT_SETTINGS, type DrainSettings } from "../../src/contract/drain-settings.ts";
import type { SocketReading } from "../../src/manager/sockets/reading.ts";
import * as tcp from "../../src/manager/sockets/tcp-states.ts";
import { createConnectionMemory } from "../../src/manager/traffic/connection-memory.ts";
import type { Observation } from "../../src/manager/traffic/observation.ts";
import {
  createTrafficMonitor,
  type OwnConnections,
  type TrafficMonitor,
} from "../../src/manager/traffic/traffic-monitor.ts";
import { type TextSocket, toTcpSocket } from "./socket-lists.ts";

export const POD_ADDRESS = "10.1.0.7";
export const CLIENT_ADDRESS = "10.2.0.9";
export const NODE_ADDRESS = "10.0.0.1";

export function socket(overrides: Partial<TextSocket> = {}): TextSocket {
  return {
    family: 2,
    state: tcp.ESTABLISHED,
    localAddress: POD_ADDRESS,
    localPort: 8080,
    peerAddress: CLIENT_ADDRESS,
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
    ...overrides,
  };
}

export function listener(overrides: Partial<TextSocket> = {}): TextSocket {
  return socket({
    state: tcp.LISTEN,
    localAddress: "0.0.0.0",
    peerAddress: "0.0.0.0",
    peerPort: 0,
    lastDataSentMs: -1,
    lastDataReceivedMs: -1,
    lastAckReceivedMs: -1,
    bytesReceived: -1,
    ...overrides,
  });
}

export type SampleInput = Omit<SocketReading, "socketCount"> & {
  readonly sockets: readonly TextSocket[];
  readonly udpPorts: readonly number[];
};

export function reading(sockets: readonly TextSocket[], overrides: Partial<SampleInput> = {}): SampleInput {
  return { source: "netlink", sockets, udpPorts: [], passiveOpens: 100, activeOpens: 50, ...overrides };
}

/** Adds the input to a monitor in the order of the socket reader: UDP ports, listeners, connections. */
export function feedSample(monitor: TrafficMonitor, input: SampleInput, nowMs: number): void {
  monitor.startSample(nowMs);
  input.udpPorts.every((port) => monitor.addUdpPort(port));
  const isListener = (socket: TextSocket) => socket.state === tcp.LISTEN;
  for (const socket of input.sockets.filter(isListener)) monitor.addListener(toTcpSocket(socket));
  for (const socket of input.sockets) if (!isListener(socket)) monitor.addConnection(toTcpSocket(socket), nowMs);
}

export function observe(monitor: TrafficMonitor, input: SampleInput, nowMs: number, own: OwnConnections): Observation {
  feedSample(monitor, input, nowMs);
  return monitor.finishSample({ ...input, socketCount: input.sockets.length }, nowMs, own);
}

export type KnownObservation = Extract<Observation, { known: true }>;

/** The returned `sample` throws when the observation is unknown. */
export function createTestMonitor(
  overrides: Partial<DrainSettings> = {},
  memory = createConnectionMemory(Math.random),
) {
  const monitor = createTrafficMonitor({ ...DEFAULT_SETTINGS, ...overrides }, memory);
  return {
    monitor,
    sample: (input: SampleInput, nowMs: number, dials = 0, accepts = 0, relayDials = 0): KnownObservation => {
      const observation = observe(monitor, input, nowMs, { dials, relayDials, accepts });
      if (!observation.known) throw new Error(`unknown observation: ${observation.why}`);
      return observation;
    },
  };
}
