/** Turns raw readings into one judgement per poll. Pure: time and counters are arguments; the state is what was seen before. */
import type { DrainSettings } from "../../contract/drain-settings.ts";
import { LISTEN, TIME_WAIT } from "../sockets/tcp-states.ts";
import { createAllowance } from "./judge-allowance.ts";
import { createConnections } from "./judge-connections.ts";
import type { Kind } from "./judge-memory.ts";
import { createOpensWitness } from "./judge-opens.ts";
import { createPeers } from "./judge-peers.ts";
import { createDrainPorts } from "./judge-ports.ts";
import type { Tally } from "./judge-tally.ts";
import type { Observation, Reading, TcpSocket } from "./observation.ts";

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
  /**
   * @param reading one look at the kernel; `undefined` when it failed
   * @param nowMs monotonic
   * @param own what the manager itself has opened and accepted
   */
  readonly observe: (reading: Reading | undefined, nowMs: number, own: OwnConnections) => Observation;
  /** The peer address of a hook that joined a triggered drain; an address of the Pod itself is never believed. */
  readonly learnKubelet: (address: string) => void;
};

export function createJudge(settings: DrainSettings): Judge {
  const ports = createDrainPorts(settings);
  const peers = createPeers(settings.addressScope);
  const connections = createConnections();
  const opens = createOpensWitness(settings.kubeletProbes);
  const probes = settings.kubeletProbes.map((probe) => {
    const samePort = settings.kubeletProbes.filter((other) => other.port === probe.port);
    return { port: probe.port, allowance: createAllowance(samePort) };
  });
  const scoped = settings.addressScope !== "";
  let nowMs = 0;
  let lastEvidenceMs = -1;
  let witness = "none";

  const classify = (socket: TcpSocket): Kind => {
    if (peers.isOwn(socket.peerAddress)) return "own";
    if (!peers.isKubelet(socket.peerAddress)) return "traffic";
    // The first entry of a port holds the allowance of all its probes.
    const probe = probes.find((candidate) => candidate.port === socket.localPort);
    return probe !== undefined && probe.allowance.take(1) === 1 ? "probe" : "traffic";
  };

  /** Every socket of a drain port from the server's end, whichever end the kernel shows. */
  const atServerEnd = (socket: TcpSocket): TcpSocket | undefined => {
    if (socket.state === LISTEN) return undefined;
    if (ports.has(socket.localPort) && ports.inScope(socket.localAddress)) return socket;
    // Where client and server share the namespace, the client that closed first keeps the trace of the connection.
    if (!scoped || socket.state !== TIME_WAIT || !ports.has(socket.peerPort)) return undefined;
    return ports.inScope(socket.peerAddress) ? fromOtherEnd(socket) : undefined;
  };

  const lookAt = (reading: Reading): Tally => {
    connections.begin(nowMs);
    for (const probe of probes) probe.allowance.fill(nowMs);
    for (const socket of reading.sockets) {
      const seen = atServerEnd(socket);
      if (seen !== undefined) connections.see(seen, classify);
    }
    return connections.end();
  };

  const note = (evidenceMs: number, by: string): void => {
    if (evidenceMs < 0 || evidenceMs < lastEvidenceMs) return;
    lastEvidenceMs = evidenceMs;
    witness = by;
  };

  return {
    learnKubelet: peers.learnKubelet,
    observe: (reading, atMs, own) => {
      if (reading === undefined) return { known: false, why: "the kernel's socket tables could not be read" };
      nowMs = atMs;
      peers.learnOwn(reading);
      // Thousands of connections are gone through once, and not for each question about a listener.
      const listeners = reading.sockets.filter((socket) => socket.state === LISTEN);
      ports.learn(listeners);
      const found = lookAt(reading);
      const backlog = waitingAt(listeners, ports.isListener);
      const waiting = waitingAt(listeners, (socket) => socket.localPort === settings.port);
      // Always asked, so that its counts stay current, even where its answer cannot be used.
      const { dials, dialsOut, accepts } = own;
      const explained = { dials, dialsOut, accepts, waiting, arrived: found.arrived };
      const outside = opens.sawOutside(reading, explained, nowMs);

      note(found.evidenceMs, reading.source);
      if (backlog > 0) note(nowMs, reading.source);
      if (outside && !scoped && lastEvidenceMs < nowMs && !ports.othersReachable(listeners))
        note(nowMs, "passive-opens");
      const quiet = backlog === 0 && found.busy === 0;
      return {
        known: true,
        hasTcpListener: listeners.some((socket) => ports.isListener(socket) || ports.isCount(socket)),
        hasUdp: ports.hasUdp(reading),
        openConnections: found.open,
        calm: quiet && found.ties === 0 && found.unknown === 0,
        lastEvidenceMs,
        witness: quiet && found.ties > 0 ? "tie" : witness === "none" ? reading.source : witness,
        left: found.left,
        leftTotal: found.open,
      };
    },
  };
}

function waitingAt(listeners: readonly TcpSocket[], listens: (socket: TcpSocket) => boolean): number {
  let waiting = 0;
  for (const socket of listeners) if (listens(socket)) waiting = waiting + socket.receiveQueue;
  return waiting;
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
