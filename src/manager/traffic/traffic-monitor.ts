/** Derives one observation per sample from the kernel's sockets and the state of earlier samples. Pure. */
import type { DrainSettings } from "../../contract/drain-settings.ts";
import type { SocketReading, TcpSocket } from "../sockets/reading.ts";
import { TIME_WAIT } from "../sockets/tcp-states.ts";
import type { ConnectionKind, ConnectionMemory } from "./connection-memory.ts";
import { createConnectionTracker } from "./connection-tracker.ts";
import { createDrainPorts } from "./drain-ports.ts";
import type { Observation } from "./observation.ts";
import { createPassiveOpens } from "./passive-opens.ts";
import { createPeers } from "./peers.ts";
import { createProbeAllowance } from "./probe-allowance.ts";
import { isClosedUnanswered, NEW_ACK_HISTORY, type PodActivity, podActivityOf } from "./quiet.ts";

export type OwnConnections = {
  readonly dials: number;
  readonly relayDials: number;
  readonly accepts: number;
};

export const NO_CONNECTIONS: OwnConnections = { dials: 0, relayDials: 0, accepts: 0 };

export type TrafficMonitor = {
  /** Does not discard the evidence of an earlier unfinished sample. */
  readonly startSample: (nowMs: number) => void;
  readonly addListener: (listener: TcpSocket) => void;
  /** @param nowMs monotonic time at which the socket was read; its ages are relative to this time */
  readonly addConnection: (socket: TcpSocket, nowMs: number) => void;
  readonly addUdpPort: (port: number) => boolean;
  readonly addTooManyUdp: () => void;
  readonly markIncomplete: () => void;
  /** Whether the socket connected a client to a drained port. */
  readonly isClientSocket: (socket: TcpSocket) => boolean;
  /** Compares a socket that was destroyed after the last sample with the connection's state in that sample; see quiet.ts. */
  readonly isClosedUnanswered: (socket: TcpSocket) => boolean;
  /**
   * @param reading `undefined` if the sockets could not be read
   * @param ownConnections numbers of connections that the manager opened and accepted
   */
  readonly finishSample: (
    reading: SocketReading | undefined,
    nowMs: number,
    ownConnections: OwnConnections,
  ) => Observation;
  readonly ports: () => readonly number[];
  readonly addKubelet: (address: string) => void;
};

type SampleContext = {
  hasTcpListener: boolean;
  hasUdp: boolean;
  hasUndrainedPort: boolean;
  backlog: number;
  managerBacklog: number;
  isIncomplete: boolean;
};

const UNREADABLE: Observation = { known: false, why: "the kernel's socket tables could not be read", blind: true };
const INCOMPLETE: Observation = {
  known: false,
  why: "the kernel's socket tables could not be read completely",
  blind: false,
};

export function createTrafficMonitor(settings: DrainSettings, memory: ConnectionMemory): TrafficMonitor {
  const ports = createDrainPorts(settings);
  const peers = createPeers(settings.addressScope);
  const passiveOpens = createPassiveOpens(settings.kubeletProbes);
  const probes = settings.kubeletProbes.map((probe) => {
    const probesOfPort = settings.kubeletProbes.filter((other) => other.port === probe.port);
    return { port: probe.port, allowance: createProbeAllowance(probesOfPort) };
  });
  const isScoped = settings.addressScope !== "";
  let context = emptyContext();
  let lastEvidenceMs = -1;
  let othersEvidenceMs = -1;
  let lastArrivalMs = -1;
  let evidenceSource = "none";

  const classify = (socket: TcpSocket): ConnectionKind => {
    if (peers.isOwn(socket)) return "own";
    if (!peers.isKubelet(socket.peerAddress)) return "traffic";
    // The first entry of a port has the allowance for all probes of that port.
    const probe = probes.find((candidate) => candidate.port === socket.localPort);
    return probe !== undefined && probe.allowance.takeUpTo(1) === 1 ? "probe" : "traffic";
  };
  const connections = createConnectionTracker(classify, memory);

  /** Returns a socket of a drained port with the server as its local end; undefined for other sockets. */
  const atServerEnd = (socket: TcpSocket): TcpSocket | undefined => {
    if (ports.has(socket.localPort) && ports.inScope(socket.localAddress)) return socket;
    // In a shared network namespace, the client's end has the TIME_WAIT entry if the client closed first.
    if (!isScoped || socket.state !== TIME_WAIT || !ports.has(socket.peerPort)) return undefined;
    return ports.inScope(socket.peerAddress) ? withEndsSwapped(socket) : undefined;
  };

  const addEvidence = (evidenceMs: number, source: string): void => {
    if (evidenceMs < 0 || evidenceMs < lastEvidenceMs) return;
    lastEvidenceMs = evidenceMs;
    evidenceSource = source;
  };

  return {
    addKubelet: peers.addKubelet,
    ports: ports.list,
    startSample: (nowMs) => {
      context = emptyContext();
      connections.startSample(nowMs);
      for (const probe of probes) probe.allowance.refill(nowMs);
    },
    addListener: (listener) => {
      peers.addOwn(listener.localAddress);
      ports.add(listener);
      if (ports.isListener(listener)) context.backlog = context.backlog + listener.receiveQueue;
      if (listener.localPort === settings.port) context.managerBacklog = context.managerBacklog + listener.receiveQueue;
      if (ports.isListener(listener) || ports.isActiveUrlPort(listener)) context.hasTcpListener = true;
      if (ports.isReachableUndrained(listener)) context.hasUndrainedPort = true;
    },
    addConnection: (socket, nowMs) => {
      peers.addOwn(socket.localAddress);
      const serverSocket = atServerEnd(socket);
      if (serverSocket !== undefined) connections.add(serverSocket, nowMs);
    },
    addUdpPort: (port) => {
      if (ports.hasUdp(port)) context.hasUdp = true;
      return !context.hasUdp;
    },
    addTooManyUdp: () => {
      context.hasUdp = true;
    },
    isClientSocket: (socket) => socket.peerPort !== 0 && atServerEnd(socket) !== undefined && !peers.isOwn(socket),
    isClosedUnanswered: (socket) => {
      const record = memory.find(socket);
      return isClosedUnanswered(socket, record < 0 ? NEW_ACK_HISTORY : memory.load(record).ackHistory);
    },
    markIncomplete: () => {
      context.isIncomplete = true;
    },
    finishSample: (reading, nowMs, ownConnections) => {
      if (reading === undefined) return failedObservation(context);
      const counts = connections.finishSample(nowMs);
      const { backlog, managerBacklog, hasTcpListener, hasUdp, hasUndrainedPort } = context;
      // Called in every sample, even if the result is not used, because it compares the counters with the last sample's.
      const { dials, relayDials, accepts } = ownConnections;
      const explained = { dials, relayDials, accepts, managerBacklog, newConnections: counts.newConnections };
      const hasMissed = passiveOpens.hasMissedConnection(reading, explained, nowMs);

      addEvidence(counts.evidenceMs, reading.source);
      if (backlog > 0) addEvidence(nowMs, reading.source);
      const hasUnseenConnection = hasMissed && !isScoped && !hasUndrainedPort;
      if (hasUnseenConnection && lastEvidenceMs < nowMs) addEvidence(nowMs, "passive-opens");
      const hasUntrackedArrival = backlog > 0 || hasUnseenConnection || counts.untracked > 0;
      othersEvidenceMs = Math.max(othersEvidenceMs, hasUntrackedArrival ? nowMs : counts.othersEvidenceMs);
      if (hasUntrackedArrival || counts.arrivals > 0) lastArrivalMs = nowMs;
      const { untracked, unknown } = counts;
      const activity = podActivityOf({ backlog, busy: counts.busy, untracked, ambiguous: counts.ambiguous, unknown });
      const othersActivity = podActivityOf({
        backlog,
        busy: counts.busy - counts.cyclingBusy,
        untracked,
        ambiguous: counts.ambiguous - counts.cyclingAmbiguous,
        unknown,
      });
      return {
        known: true,
        hasTcpListener,
        hasUdp,
        openConnections: counts.open,
        activity,
        lastEvidenceMs,
        evidenceSource: evidenceSourceOf(activity, reading, evidenceSource),
        left: counts.left,
        leftTotal: counts.open,
        untracked,
        cycling: {
          connectionCount: counts.cycling,
          outstandingResponses: counts.cyclingBusy + counts.cyclingAmbiguous,
          othersActivity,
          othersEvidenceMs,
          lastArrivalMs,
        },
      };
    },
  };
}

/** Returns `too-many` or `ambiguous` as the reason why the Pod is not quiet, or else the source of the last evidence of traffic. */
function evidenceSourceOf(activity: PodActivity, reading: SocketReading, evidenceSource: string): string {
  if (activity === "untracked") return "too-many";
  if (activity === "ambiguous") return "ambiguous";
  return evidenceSource === "none" ? reading.source : evidenceSource;
}

function failedObservation(context: SampleContext): Observation {
  return context.isIncomplete ? INCOMPLETE : UNREADABLE;
}

function emptyContext(): SampleContext {
  return {
    hasTcpListener: false,
    hasUdp: false,
    hasUndrainedPort: false,
    backlog: 0,
    managerBacklog: 0,
    isIncomplete: false,
  };
}

function withEndsSwapped(socket: TcpSocket): TcpSocket {
  return {
    family: socket.family,
    state: socket.state,
    localAddress: socket.peerAddress,
    localPort: socket.peerPort,
    peerAddress: socket.localAddress,
    peerPort: socket.localPort,
    uid: socket.uid,
    receiveQueue: 0,
    sendQueue: 0,
    lastDataSentMs: -1,
    lastDataReceivedMs: -1,
    lastAckReceivedMs: socket.lastAckReceivedMs,
    bytesReceived: -1,
    dataSegmentsReceived: -1,
    dataSegmentsSent: -1,
    pureAcksSent: -1,
  };
}
