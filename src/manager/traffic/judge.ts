/**
 * Turns what looks at the kernel show, socket by socket, into one judgement per look. Pure: time and counters are
 * arguments; the state is what was seen before.
 */
import type { DrainSettings } from "../../contract/drain-settings.ts";
import type { Reading, TcpSocket } from "../sockets/reading.ts";
import { TIME_WAIT } from "../sockets/tcp-states.ts";
import { createAllowance } from "./judge-allowance.ts";
import { createConnections } from "./judge-connections.ts";
import type { ConnectionMemory, Kind } from "./judge-memory.ts";
import { createOpensWitness } from "./judge-opens.ts";
import { createPeers } from "./judge-peers.ts";
import { createDrainPorts } from "./judge-ports.ts";
import type { Observation } from "./observation.ts";
import { type PodActivity, podActivityOf } from "./quiet.ts";

/** Running totals since the manager's start. */
export type OwnConnections = {
  /** Opened by the manager, within the Pod. */
  readonly dials: number;
  /** Opened by its relay client, to the outside. */
  readonly dialsOut: number;
  readonly accepts: number;
};

export const NO_CONNECTIONS: OwnConnections = { dials: 0, dialsOut: 0, accepts: 0 };

export type Judge = {
  /** A look begins. One before that was not whole has no end, but what it showed is not forgotten. */
  readonly begin: (nowMs: number) => void;
  readonly seeListener: (listener: TcpSocket) => void;
  /** @param nowMs monotonic, not before the socket was read: its ages count back from here */
  readonly seeConnection: (socket: TcpSocket, nowMs: number) => void;
  /** @returns false when it knows enough */
  readonly seeUdpPort: (port: number) => boolean;
  readonly seeManyUdp: () => void;
  readonly seeTorn: () => void;
  /**
   * The look is over.
   *
   * @param reading what it was; `undefined` when it failed
   * @param own what the manager itself has opened and accepted
   */
  readonly observe: (reading: Reading | undefined, nowMs: number, own: OwnConnections) => Observation;
  /** The drained ports that it knows of. */
  readonly ports: () => readonly number[];
  /** The peer address of a hook that joined a triggered drain; an address of the Pod itself is never believed. */
  readonly learnKubelet: (address: string) => void;
};

/** Of one look, beside its connections. */
type Surroundings = {
  hasTcpListener: boolean;
  hasUdp: boolean;
  othersReachable: boolean;
  /** Connections that wait for the app, and for the manager. */
  backlog: number;
  waiting: number;
  torn: boolean;
};

const UNREADABLE: Observation = { known: false, why: "the kernel's socket tables could not be read", blind: true };
const TORN: Observation = {
  known: false,
  why: "the kernel's socket tables could not be read whole",
  blind: false,
};

/** @param memory of this judge alone */
export function createJudge(settings: DrainSettings, memory: ConnectionMemory): Judge {
  const ports = createDrainPorts(settings);
  const peers = createPeers(settings.addressScope);
  const opens = createOpensWitness(settings.kubeletProbes);
  const probes = settings.kubeletProbes.map((probe) => {
    const samePort = settings.kubeletProbes.filter((other) => other.port === probe.port);
    return { port: probe.port, allowance: createAllowance(samePort) };
  });
  const scoped = settings.addressScope !== "";
  let around = nothingAround();
  let lastEvidenceMs = -1;
  let witness = "none";

  const classify = (socket: TcpSocket): Kind => {
    if (peers.isOwn(socket)) return "own";
    if (!peers.isKubelet(socket.peerAddress)) return "traffic";
    // The first entry of a port holds the allowance of all its probes.
    const probe = probes.find((candidate) => candidate.port === socket.localPort);
    return probe !== undefined && probe.allowance.take(1) === 1 ? "probe" : "traffic";
  };
  const connections = createConnections(classify, memory);

  /** Every socket of a drain port from the server's end, whichever end the kernel shows. */
  const atServerEnd = (socket: TcpSocket): TcpSocket | undefined => {
    if (ports.has(socket.localPort) && ports.inScope(socket.localAddress)) return socket;
    // Where client and server share the namespace, the client that closed first keeps the trace of the connection.
    if (!scoped || socket.state !== TIME_WAIT || !ports.has(socket.peerPort)) return undefined;
    return ports.inScope(socket.peerAddress) ? fromOtherEnd(socket) : undefined;
  };

  const note = (evidenceMs: number, by: string): void => {
    if (evidenceMs < 0 || evidenceMs < lastEvidenceMs) return;
    lastEvidenceMs = evidenceMs;
    witness = by;
  };

  return {
    learnKubelet: peers.learnKubelet,
    ports: ports.list,
    begin: (nowMs) => {
      around = nothingAround();
      connections.begin(nowMs);
      for (const probe of probes) probe.allowance.fill(nowMs);
    },
    seeListener: (listener) => {
      peers.learnOwn(listener.localAddress);
      ports.learn(listener);
      if (ports.isListener(listener)) around.backlog = around.backlog + listener.receiveQueue;
      if (listener.localPort === settings.port) around.waiting = around.waiting + listener.receiveQueue;
      if (ports.isListener(listener) || ports.isCount(listener)) around.hasTcpListener = true;
      if (ports.isOther(listener)) around.othersReachable = true;
    },
    seeConnection: (socket, nowMs) => {
      peers.learnOwn(socket.localAddress);
      const seen = atServerEnd(socket);
      if (seen !== undefined) connections.see(seen, nowMs);
    },
    seeUdpPort: (port) => {
      if (ports.hasUdp(port)) around.hasUdp = true;
      return !around.hasUdp;
    },
    seeManyUdp: () => {
      around.hasUdp = true;
    },
    seeTorn: () => {
      around.torn = true;
    },
    observe: (reading, nowMs, own) => {
      if (reading === undefined) return failed(around);
      const found = connections.end(nowMs);
      const { backlog, waiting, hasTcpListener, hasUdp, othersReachable } = around;
      // Always asked, so that its counts stay current, even where its answer cannot be used.
      const { dials, dialsOut, accepts } = own;
      const explained = { dials, dialsOut, accepts, waiting, arrived: found.arrived };
      const outside = opens.sawOutside(reading, explained, nowMs);

      note(found.evidenceMs, reading.source);
      if (backlog > 0) note(nowMs, reading.source);
      if (outside && !scoped && lastEvidenceMs < nowMs && !othersReachable) note(nowMs, "passive-opens");
      const { busy, untracked, tied, unknown } = found;
      const activity = podActivityOf({ backlog, busy, untracked, tied, unknown });
      return {
        known: true,
        hasTcpListener,
        hasUdp,
        openConnections: found.open,
        activity,
        lastEvidenceMs,
        witness: witnessOf(activity, reading, witness),
        left: found.left,
        leftTotal: found.open,
        unfollowed: untracked,
      };
    },
  };
}

/** What keeps the Pod from being quiet, or dated the last traffic. */
function witnessOf(activity: PodActivity, reading: Reading, witness: string): string {
  if (activity === "untracked") return "too-many";
  if (activity === "tied") return "tie";
  return witness === "none" ? reading.source : witness;
}

function failed(around: Surroundings): Observation {
  return around.torn ? TORN : UNREADABLE;
}

function nothingAround(): Surroundings {
  return { hasTcpListener: false, hasUdp: false, othersReachable: false, backlog: 0, waiting: 0, torn: false };
}

function fromOtherEnd(socket: TcpSocket): TcpSocket {
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
