import fc from "fast-check";
import { describe, expect, test } from "vitest";
import * as tcp from "../../src/manager/sockets/tcp-states.ts";
import { createConnectionMemory, type TrackedConnection } from "../../src/manager/traffic/connection-memory.ts";
import { NO_EXCHANGE } from "../../src/manager/traffic/cycling.ts";
import { NEW_ACK_HISTORY } from "../../src/manager/traffic/quiet.ts";
import { createSlotHash } from "../../src/manager/traffic/slot-hash.ts";
import { NO_CONNECTIONS } from "../../src/manager/traffic/traffic-monitor.ts";
import { createPlainMemory } from "./plain-memory.ts";
import { type TextSocket, toTcpSocket } from "./socket-lists.ts";
import {
  CLIENT_ADDRESS,
  createTestMonitor,
  feedSample,
  type KnownObservation,
  listener,
  NODE_ADDRESS,
  POD_ADDRESS,
  reading,
  socket,
} from "./traffic-room.ts";

const FIRST_PORT = 50_000;

const anySample = fc.record({
  connections: fc.uniqueArray(
    fc.record({
      port: fc.integer({ min: FIRST_PORT, max: FIRST_PORT + 5 }),
      state: fc.constantFrom(tcp.ESTABLISHED, tcp.CLOSE_WAIT, tcp.TIME_WAIT, tcp.SYN_RECV),
      received: fc.nat(3),
      sent: fc.nat(3),
      receivedMs: fc.nat(400),
      sentMs: fc.nat(400),
    }),
    { selector: ({ port }) => port, maxLength: 6 },
  ),
  reversed: fc.boolean(),
  shownTwice: fc.boolean(),
});

test("the result of samples does not depend on the kernel's order of connections", () => {
  fc.assert(
    fc.property(fc.array(anySample, { minLength: 2, maxLength: 8 }), (samples) => {
      const monitorWithMap = createTestMonitor();
      const mixedMonitor = createTestMonitor();
      for (const [index, { connections, reversed, shownTwice }] of samples.entries()) {
        const sockets = connections.map(socketOf);
        const shuffled = reversed ? [...sockets].reverse() : sockets;
        const mixedSockets = shownTwice ? [...shuffled, ...sockets] : shuffled;
        const nowMs = 10_000 + index * 150;
        const { left: expectedLeft, ...expected } = monitorWithMap.sample(reading([listener(), ...sockets]), nowMs);
        const { left, ...found } = mixedMonitor.sample(reading([...mixedSockets, listener()]), nowMs);
        expect(found).toEqual(expected);
        expect(new Set(left)).toEqual(new Set(expectedLeft));
      }
    }),
    { numRuns: 500 },
  );
});

test("a connection keeps its age if the kernel's list changes before its entry", () => {
  const { sample } = createTestMonitor();
  const unchangedSocket = socket({ peerPort: 50_009 });
  const otherSockets = [1, 2, 3].map((n) => socket({ peerPort: 50_000 + n }));
  sample(reading([listener(), ...otherSockets, unchangedSocket]), 1_000);
  sample(reading([listener(), otherSockets[2] ?? unchangedSocket, unchangedSocket]), 1_500);
  const observation = sample(reading([listener(), socket({ peerPort: 50_004 }), unchangedSocket]), 2_000);
  expect(observation.left.find(({ peer }) => peer.endsWith(":50009"))).toMatchObject({ ageMs: 1_000 });
  expect(observation.left.find(({ peer }) => peer.endsWith(":50004"))).toMatchObject({ ageMs: 0 });
  expect(observation.leftTotal).toBe(2);
});

/** Ages in ms, often equal, so their order is ambiguous. The kernel never delays an acknowledgement by 300 ms. */
const anyAge = fc.oneof(fc.nat(400), fc.constantFrom(0, 300));

/** One connection over several samples. Its counters never decrease, unless another connection reuses the addresses. */
const anyConnectionHistory = fc.record({
  peer: fc.constantFrom(CLIENT_ADDRESS, NODE_ADDRESS, POD_ADDRESS, "2001:db8::7", "::ffff:10.9.9.9", "127.0.0.1"),
  local: fc.constantFrom(POD_ADDRESS, "2001:db8::1"),
  peerPort: fc.integer({ min: FIRST_PORT, max: FIRST_PORT + 3 }),
  steps: fc.array(
    fc.record({
      isListed: fc.boolean(),
      state: fc.constantFrom(
        tcp.ESTABLISHED,
        tcp.ESTABLISHED,
        tcp.CLOSE_WAIT,
        tcp.TIME_WAIT,
        tcp.SYN_RECV,
        tcp.FIN_WAIT1,
      ),
      receivedSegments: fc.nat(2),
      sentSegments: fc.nat(2),
      sentAcks: fc.nat(1),
      reusesAddresses: fc.boolean(),
      hasCounters: fc.constantFrom(true, true, true, false),
      receivedMs: anyAge,
      sentMs: anyAge,
      ackMs: anyAge,
      receiveQueue: fc.constantFrom(0, 0, 0, 4),
    }),
    { minLength: 6, maxLength: 6 },
  ),
});

type ConnectionHistory = typeof anyConnectionHistory extends fc.Arbitrary<infer T> ? T : never;

function socketsOf(connectionHistory: ConnectionHistory): (TextSocket | undefined)[] {
  let received = 0;
  let sent = 0;
  let acks = 0;
  return connectionHistory.steps.map((step) => {
    received = (step.reusesAddresses && step.state === tcp.TIME_WAIT ? 0 : received) + step.receivedSegments;
    sent += step.sentSegments;
    acks += step.sentAcks;
    if (!step.isListed) return undefined;
    const counts = step.hasCounters && step.state !== tcp.TIME_WAIT && step.state !== tcp.SYN_RECV;
    return socket({
      localAddress: connectionHistory.local,
      peerAddress: connectionHistory.peer,
      peerPort: connectionHistory.peerPort,
      state: step.state,
      receiveQueue: step.receiveQueue,
      lastDataReceivedMs: step.receivedMs,
      lastDataSentMs: step.sentMs,
      lastAckReceivedMs: step.ackMs,
      dataSegmentsReceived: counts ? received : -1,
      dataSegmentsSent: counts ? sent : -1,
      pureAcksSent: counts ? acks : -1,
    });
  });
}

const anyHistory = fc.record({
  connectionHistories: fc.uniqueArray(anyConnectionHistory, {
    selector: ({ local, peer, peerPort }) => `${local} ${peer} ${peerPort}`,
    maxLength: 12,
  }),
  /** Indexes of samples that fail, and the number of sockets that each reads before its failure. */
  failedSamples: fc.array(fc.record({ sample: fc.nat(5), after: fc.nat(12) }), { maxLength: 2 }),
  /** Index of the sample before which the kubelet's address is added. */
  kubeletAt: fc.nat(5),
  /** Increase of PassiveOpens before each sample. */
  passiveOpenIncreases: fc.array(fc.nat(2), { minLength: 6, maxLength: 6 }),
});

const PROBED = { kubeletProbes: [{ port: 8080, periodMs: 1_000 }] };

/** Replays one history on several monitors. Skips the comparison of failed samples. */
function replay(
  {
    connectionHistories,
    failedSamples,
    kubeletAt,
    passiveOpenIncreases,
  }: typeof anyHistory extends fc.Arbitrary<infer T> ? T : never,
  monitors: readonly ReturnType<typeof createTestMonitor>[],
  each: (observation: readonly KnownObservation[]) => void,
): void {
  const socketsOfConnections = connectionHistories.map(socketsOf);
  let passiveOpens = 100;
  for (let index = 0; index < 6; index += 1) {
    const sockets = [listener(), ...socketsOfConnections.flatMap((samples) => samples[index] ?? [])];
    const nowMs = 10_000 + index * 150;
    passiveOpens += passiveOpenIncreases[index] ?? 0;
    if (index === kubeletAt) for (const { monitor } of monitors) monitor.addKubelet(NODE_ADDRESS);
    const end = failedSamples.find(({ sample }) => sample === index);
    if (end === undefined) each(monitors.map(({ sample }) => sample(reading(sockets, { passiveOpens }), nowMs)));
    else {
      for (const { monitor } of monitors) {
        feedSample(monitor, reading(sockets.slice(0, end.after)), nowMs);
        expect(monitor.finishSample(undefined, nowMs, NO_CONNECTIONS).known).toBe(false);
      }
    }
  }
}

test("the table of tracked connections leads to the same results as a map of objects", () => {
  fc.assert(
    fc.property(anyHistory, fc.boolean(), (history, sameSlot) => {
      // Constant hash factors put all connections into one slot, where they must stay distinct.
      const monitorWithTable = createTestMonitor(PROBED, createConnectionMemory(sameSlot ? () => 0 : Math.random));
      const monitorWithMap = createTestMonitor(PROBED, createPlainMemory());
      replay(history, [monitorWithTable, monitorWithMap], ([one, other]) => expect(one).toEqual(other));
    }),
    { numRuns: 2_000 },
  );
});

test("a table with too few slots never makes a busy Pod quiet or its last traffic older", () => {
  fc.assert(
    fc.property(anyHistory, fc.integer({ min: 0, max: 6 }), (history, limit) => {
      const smallMonitor = createTestMonitor(PROBED, createConnectionMemory(Math.random, limit));
      const largeMonitor = createTestMonitor(PROBED, createPlainMemory());
      replay(history, [smallMonitor, largeMonitor], ([one, other]) => {
        expect(one?.openConnections).toBeGreaterThanOrEqual(other?.openConnections ?? 0);
        expect(one?.lastEvidenceMs).toBeGreaterThanOrEqual(other?.lastEvidenceMs ?? 0);
        if (one?.activity === "quiet") expect([other?.activity, one.untracked]).toEqual(["quiet", 0]);
      });
    }),
    { numRuns: 2_000 },
  );
});

test("received data is classified as ambiguous after a sample without segment counters, even if earlier counters showed that all data was answered", () => {
  const agesOf = (ms: number) => ({ lastDataReceivedMs: ms, lastDataSentMs: ms, lastAckReceivedMs: ms });
  const uncountedFields = { dataSegmentsReceived: -1, dataSegmentsSent: -1, pureAcksSent: -1, ...agesOf(-1) };
  for (const received of [0, 1]) {
    for (const memory of [createConnectionMemory(Math.random), createPlainMemory()]) {
      const { sample } = createTestMonitor({}, memory);
      sample(reading([listener(), socket({ dataSegmentsReceived: received, dataSegmentsSent: 1 })]), 10_000);
      sample(reading([listener(), socket(uncountedFields)]), 11_000);
      const request = socket({ dataSegmentsReceived: 1, dataSegmentsSent: 1, ...agesOf(100) });
      expect(sample(reading([listener(), request]), 12_000)).toMatchObject({
        activity: "ambiguous",
        evidenceSource: "ambiguous",
      });
    }
  }
});

describe("connections beyond the number that the manager tracks", () => {
  const manySockets = (count: number) => Array.from({ length: count }, (_, n) => socket({ peerPort: 20_000 + n }));

  test("are counted and listed, and make the Pod busy even if they are idle", () => {
    const { sample } = createTestMonitor({}, createConnectionMemory(Math.random, 5));
    expect(sample(reading([listener(), ...manySockets(5)]), 10_000)).toMatchObject({ activity: "quiet", untracked: 0 });
    expect(sample(reading([listener(), ...manySockets(8)]), 20_000)).toMatchObject({
      activity: "untracked",
      lastEvidenceMs: 20_000,
      openConnections: 8,
      leftTotal: 8,
      untracked: 3,
      evidenceSource: "too-many",
    });
  });

  test("are evidence at the time of the first sample after their end", () => {
    const { sample } = createTestMonitor({}, createConnectionMemory(Math.random, 5));
    sample(reading([listener(), ...manySockets(8)]), 10_000);
    expect(sample(reading([listener(), ...manySockets(4)]), 20_000)).toMatchObject({
      activity: "quiet",
      lastEvidenceMs: 20_000,
    });
    expect(sample(reading([listener(), ...manySockets(4)]), 30_000)).toMatchObject({
      activity: "quiet",
      lastEvidenceMs: 20_000,
    });
  });

  describe("once the manager tracks them", () => {
    const createSmallMemory = () => createConnectionMemory(Math.random, 1);
    /** In the first sample another connection occupies the only record, so `others` are not tracked. The second sample frees it. */
    const occupyRecord = ({ sample }: ReturnType<typeof createTestMonitor>, ...others: readonly TextSocket[]) => {
      sample(reading([listener(), socket({ localAddress: "2001:db8::1" }), ...others]), 10_000);
      sample(reading([listener(), ...others]), 11_000);
    };

    test("count as connections of clients even if their peer's address is later added to the Pod's own addresses", () => {
      const ownAddresses = { localAddress: "2001:db8::1", peerAddress: POD_ADDRESS };
      for (const memory of [createSmallMemory(), createPlainMemory()]) {
        const testMonitor = createTestMonitor({}, memory);
        // The monitor classifies the first connection before the second adds the first connection's peer to the Pod's own addresses.
        occupyRecord(testMonitor, socket(ownAddresses), socket());
        testMonitor.sample(reading([listener(), socket(ownAddresses)]), 12_000);
        const observation = testMonitor.sample(
          reading([listener(), socket({ ...ownAddresses, state: tcp.SYN_RECV })]),
          13_000,
        );
        expect(observation).toMatchObject({ activity: "busy", lastEvidenceMs: 13_000, untracked: 0 });
      }
    });

    test("do not count as probes even if the kubelet's address is added later", () => {
      const testMonitor = createTestMonitor(PROBED, createSmallMemory());
      const nodeSocket = socket({ peerAddress: NODE_ADDRESS });
      occupyRecord(testMonitor, nodeSocket);
      testMonitor.monitor.addKubelet(NODE_ADDRESS);
      const observation = testMonitor.sample(reading([listener(), nodeSocket]), 12_000);
      expect(observation).toMatchObject({ openConnections: 1, untracked: 0 });
    });

    test("do not count as answered, because the sent data could be a greeting before the request", () => {
      const testMonitor = createTestMonitor({}, createSmallMemory());
      const counts = { dataSegmentsSent: 1, pureAcksSent: 0, lastDataSentMs: 400, lastAckReceivedMs: 400 };
      occupyRecord(testMonitor, socket({ ...counts, dataSegmentsReceived: 0, bytesReceived: 0 }));
      const request = socket({ ...counts, dataSegmentsReceived: 1, lastDataReceivedMs: 400 });
      const observation = testMonitor.sample(reading([listener(), request]), 12_000);
      expect(observation).toMatchObject({ activity: "ambiguous", evidenceSource: "ambiguous", untracked: 0 });
    });

    test("do not hide another connection that opened and closed between two samples, which only the kernel's counter shows", () => {
      const testMonitor = createTestMonitor({}, createSmallMemory());
      occupyRecord(testMonitor, socket());
      testMonitor.sample(reading([listener(), socket()]), 12_000);
      const observation = testMonitor.sample(reading([listener(), socket()], { passiveOpens: 101 }), 13_000);
      expect(observation).toMatchObject({ lastEvidenceMs: 13_000, evidenceSource: "passive-opens" });
    });
  });

  test("are counted even if the Pod has more addresses than the limit", () => {
    const { sample } = createTestMonitor();
    const sockets = Array.from({ length: 300 }, (_, n) => socket({ localAddress: `10.3.${n >> 8}.${n & 255}` }));
    expect(sample(reading([listener(), ...sockets]), 10_000)).toMatchObject({
      openConnections: 300,
      untracked: 44,
      activity: "untracked",
    });
  });
});

describe("the hash of the table", () => {
  const SLOTS = 262_144;
  const CONNECTIONS = 60_000;
  /**
   * For about one draw in a thousand, the factors map regular addresses to few slots. A client cannot choose such factors, and
   * lookups are then only slower, so the median of some draws counts.
   */
  const DRAWS = 7;
  /** Of 60 000 random connections in 262 144 slots, 9 or more rarely share a slot. */
  const SLOT_LIMIT = 9;

  test.for([
    {
      title: "adjacent addresses with evenly spaced ports",
      connectionOf: (n: number) => ({
        peer: { a: 0, b: 0, c: 0xffff, d: 0x0a010000 + (n >> 6) },
        ports: 8080 * 65_536 + (n % 64) * 1_024,
      }),
    },
    {
      title: "evenly spaced IPv6 addresses with one port",
      connectionOf: (n: number) => ({ peer: { a: n * 65_536, b: 7, c: n, d: 1 }, ports: 8080 * 65_536 + 50_000 }),
    },
  ])("spreads $title like random ones", ({ connectionOf }) => {
    const mostInOneSlot = Array.from({ length: DRAWS }, () => {
      const hash = createSlotHash(Math.random);
      const connectionsPerSlot = new Uint32Array(SLOTS);
      for (let n = 0; n < CONNECTIONS; n += 1) {
        const { peer, ports } = connectionOf(n);
        const slot = hash.slotOf(peer, ports, 0, SLOTS);
        connectionsPerSlot[slot] = (connectionsPerSlot[slot] ?? Number.NaN) + 1;
      }
      expect(connectionsPerSlot.reduce((sum, count) => sum + count, 0)).toBe(CONNECTIONS);
      return connectionsPerSlot.reduce((most, count) => Math.max(most, count), 0);
    });
    expect(mostInOneSlot.sort((a, b) => a - b)[(DRAWS - 1) / 2]).toBeLessThan(SLOT_LIMIT);
  });
});

test("each of a hundred thousand tracked connections of IPv4 and IPv6 is found again, and uses ten words of memory", () => {
  const memory = createConnectionMemory(Math.random);
  const connectionAt = (n: number) =>
    toTcpSocket(
      socket({ peerPort: 1_024 + (n >> 3), peerAddress: n % 2 === 0 ? `10.4.0.${n % 8}` : `2001:db8::${n % 8}` }),
    );
  const fill = (from: number, to: number) => {
    memory.startSample(1_000);
    for (let n = from; n < to; n += 1) {
      const connection = connectionAt(n);
      const found = memory.find(connection);
      const record = found >= 0 ? found : memory.add(connection);
      memory.store(record, { ...TRACKED, dataSegmentsSent: n });
    }
    memory.dropMissing();
  };
  fill(0, 100_000);
  fill(50_000, 120_000);
  expect([memory.find(connectionAt(49_999)), memory.find(connectionAt(120_000))]).toEqual([-1, -1]);
  for (let n = 50_000; n < 120_000; n += 7) expect(memory.load(memory.find(connectionAt(n))).dataSegmentsSent).toBe(n);
});

const TRACKED: TrackedConnection = {
  firstSampledAtMs: 1_000,
  open: true,
  working: false,
  kind: "traffic",
  dataSegmentsReceived: 1,
  dataSegmentsSent: 1,
  pureAcksSent: 1,
  ackHistory: NEW_ACK_HISTORY,
  exchangeStep: NO_EXCHANGE,
  outstandingSinceMs: 1_000,
};

function socketOf(fields: {
  port: number;
  state: number;
  received: number;
  sent: number;
  receivedMs: number;
  sentMs: number;
}): TextSocket {
  return socket({
    peerPort: fields.port,
    state: fields.state,
    dataSegmentsReceived: fields.received,
    dataSegmentsSent: fields.sent,
    lastDataReceivedMs: fields.receivedMs,
    lastDataSentMs: fields.sentMs,
  });
}
