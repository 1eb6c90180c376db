import fc from "fast-check";
import { describe, expect, test } from "vitest";
import * as tcp from "../../src/manager/sockets/tcp-states.ts";
import { createConnectionMemory, type TrackedConnection } from "../../src/manager/traffic/connection-memory.ts";
import { START } from "../../src/manager/traffic/quiet.ts";
import { createSlotHash } from "../../src/manager/traffic/slot-hash.ts";
import { NO_CONNECTIONS } from "../../src/manager/traffic/traffic-monitor.ts";
import { createPlainMemory } from "./plain-memory.ts";
import { inWords, type TextSocket } from "./socket-lists.ts";
import { CLIENT, judging, type Known, listener, NODE, POD, reading, show, socket } from "./traffic-room.ts";

const FIRST_PORT = 50_000;

/** Which connections a look shows, what they do, and in which order the kernel lists them. */
const anyLook = fc.record({
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

test("what a sequence of looks means does not depend on the order in which the kernel lists connections", () => {
  fc.assert(
    fc.property(fc.array(anyLook, { minLength: 2, maxLength: 8 }), (looks) => {
      const plain = judging();
      const mixed = judging();
      for (const [index, { connections, reversed, shownTwice }] of looks.entries()) {
        const sockets = connections.map(socketOf);
        const shuffled = reversed ? [...sockets].reverse() : sockets;
        const again = shownTwice ? [...shuffled, ...sockets] : shuffled;
        const nowMs = 10_000 + index * 150;
        const { left: expectedLeft, ...expected } = plain.look(reading([listener(), ...sockets]), nowMs);
        const { left, ...found } = mixed.look(reading([...again, listener()]), nowMs);
        expect(found).toEqual(expected);
        expect(new Set(left)).toEqual(new Set(expectedLeft));
      }
    }),
    { numRuns: 500 },
  );
});

test("a connection keeps its age when others before it in the kernel's list come and go", () => {
  const { look } = judging();
  const kept = socket({ peerPort: 50_009 });
  const others = [1, 2, 3].map((n) => socket({ peerPort: 50_000 + n }));
  look(reading([listener(), ...others, kept]), 1_000);
  look(reading([listener(), others[2] ?? kept, kept]), 1_500);
  const seen = look(reading([listener(), socket({ peerPort: 50_004 }), kept]), 2_000);
  expect(seen.left.find(({ peer }) => peer.endsWith(":50009"))).toMatchObject({ ageMs: 1_000 });
  expect(seen.left.find(({ peer }) => peer.endsWith(":50004"))).toMatchObject({ ageMs: 0 });
  expect(seen.leftTotal).toBe(2);
});

/** Often equal, since the past counts most in an ambiguous order; from 300 ms on no acknowledgement is put off any more. */
const anyAge = fc.oneof(fc.nat(400), fc.constantFrom(0, 300));

/** One connection over several looks: counters only grow, as the kernel's do, unless its addresses were taken again. */
const anyLife = fc.record({
  peer: fc.constantFrom(CLIENT, NODE, POD, "2001:db8::7", "::ffff:10.9.9.9", "127.0.0.1"),
  local: fc.constantFrom(POD, "2001:db8::1"),
  peerPort: fc.integer({ min: FIRST_PORT, max: FIRST_PORT + 3 }),
  steps: fc.array(
    fc.record({
      shown: fc.boolean(),
      state: fc.constantFrom(
        tcp.ESTABLISHED,
        tcp.ESTABLISHED,
        tcp.CLOSE_WAIT,
        tcp.TIME_WAIT,
        tcp.SYN_RECV,
        tcp.FIN_WAIT1,
      ),
      came: fc.nat(2),
      went: fc.nat(2),
      acked: fc.nat(1),
      again: fc.boolean(),
      counted: fc.constantFrom(true, true, true, false),
      receivedMs: anyAge,
      sentMs: anyAge,
      ackMs: anyAge,
      receiveQueue: fc.constantFrom(0, 0, 0, 4),
    }),
    { minLength: 6, maxLength: 6 },
  ),
});

type Life = typeof anyLife extends fc.Arbitrary<infer T> ? T : never;

/** What a life shows in each of its looks. */
function shownIn(life: Life): (TextSocket | undefined)[] {
  let received = 0;
  let sent = 0;
  let acks = 0;
  return life.steps.map((step) => {
    received = (step.again && step.state === tcp.TIME_WAIT ? 0 : received) + step.came;
    sent += step.went;
    acks += step.acked;
    if (!step.shown) return undefined;
    const counts = step.counted && step.state !== tcp.TIME_WAIT && step.state !== tcp.SYN_RECV;
    return socket({
      localAddress: life.local,
      peerAddress: life.peer,
      peerPort: life.peerPort,
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
  lives: fc.uniqueArray(anyLife, {
    selector: ({ local, peer, peerPort }) => `${local} ${peer} ${peerPort}`,
    maxLength: 12,
  }),
  /** Looks that end before they are whole, after so many sockets. */
  broken: fc.array(fc.record({ look: fc.nat(5), after: fc.nat(12) }), { maxLength: 2 }),
  /** The look before which the kubelet's address is learned. */
  kubeletAt: fc.nat(5),
  /** How many connections the kernel has counted as opened since the look before. */
  opened: fc.array(fc.nat(2), { minLength: 6, maxLength: 6 }),
});

const PROBED = { kubeletProbes: [{ port: 8080, periodMs: 1_000 }] };

/** What both say of every look of one history. @returns undefined for looks that were not whole */
function compare(
  { lives, broken, kubeletAt, opened }: typeof anyHistory extends fc.Arbitrary<infer T> ? T : never,
  judges: readonly ReturnType<typeof judging>[],
  each: (seen: readonly Known[]) => void,
): void {
  const shown = lives.map(shownIn);
  let passiveOpens = 100;
  for (let index = 0; index < 6; index += 1) {
    const sockets = [listener(), ...shown.flatMap((life) => life[index] ?? [])];
    const nowMs = 10_000 + index * 150;
    passiveOpens += opened[index] ?? 0;
    if (index === kubeletAt) for (const { judge } of judges) judge.addKubelet(NODE);
    const end = broken.find(({ look }) => look === index);
    if (end === undefined) each(judges.map(({ look }) => look(reading(sockets, { passiveOpens }), nowMs)));
    else {
      for (const { judge } of judges) {
        show(judge, reading(sockets.slice(0, end.after)), nowMs);
        expect(judge.finishSample(undefined, nowMs, NO_CONNECTIONS).known).toBe(false);
      }
    }
  }
}

test("the flat memory judges every history as a map of everything would", () => {
  fc.assert(
    fc.property(anyHistory, fc.boolean(), (history, sameSlot) => {
      // Without a secret every connection falls into one slot, and must still be told from the others.
      const flat = judging(PROBED, createConnectionMemory(sameSlot ? () => 0 : Math.random));
      const plain = judging(PROBED, createPlainMemory());
      compare(history, [flat, plain], ([one, other]) => expect(one).toEqual(other));
    }),
    { numRuns: 2_000 },
  );
});

test("a memory that is too small never makes a drain calmer, nor its last traffic older", () => {
  fc.assert(
    fc.property(anyHistory, fc.integer({ min: 0, max: 6 }), (history, limit) => {
      const small = judging(PROBED, createConnectionMemory(Math.random, limit));
      const large = judging(PROBED, createPlainMemory());
      compare(history, [small, large], ([one, other]) => {
        expect(one?.openConnections).toBeGreaterThanOrEqual(other?.openConnections ?? 0);
        expect(one?.lastEvidenceMs).toBeGreaterThanOrEqual(other?.lastEvidenceMs ?? 0);
        if (one?.activity === "quiet") expect([other?.activity, one.untracked]).toEqual(["quiet", 0]);
      });
    }),
    { numRuns: 2_000 },
  );
});

test("what was answered before a look without counts and ages proves nothing once there are some again", () => {
  const ages = (ms: number) => ({ lastDataReceivedMs: ms, lastDataSentMs: ms, lastAckReceivedMs: ms });
  const bare = { dataSegmentsReceived: -1, dataSegmentsSent: -1, pureAcksSent: -1, ...ages(-1) };
  for (const received of [0, 1]) {
    for (const memory of [createConnectionMemory(Math.random), createPlainMemory()]) {
      const { look } = judging({}, memory);
      look(reading([listener(), socket({ dataSegmentsReceived: received, dataSegmentsSent: 1 })]), 10_000);
      look(reading([listener(), socket(bare)]), 11_000);
      const asked = socket({ dataSegmentsReceived: 1, dataSegmentsSent: 1, ...ages(100) });
      expect(look(reading([listener(), asked]), 12_000)).toMatchObject({
        activity: "ambiguous",
        evidenceSource: "ambiguous",
      });
    }
  }
});

describe("connections beyond what can be remembered", () => {
  const many = (count: number) => Array.from({ length: count }, (_, n) => socket({ peerPort: 20_000 + n }));

  test("are counted and named, and keep the drain from being quiet however quiet they look", () => {
    const { look } = judging({}, createConnectionMemory(Math.random, 5));
    expect(look(reading([listener(), ...many(5)]), 10_000)).toMatchObject({ activity: "quiet", untracked: 0 });
    expect(look(reading([listener(), ...many(8)]), 20_000)).toMatchObject({
      activity: "untracked",
      lastEvidenceMs: 20_000,
      openConnections: 8,
      leftTotal: 8,
      untracked: 3,
      evidenceSource: "too-many",
    });
  });

  test("that are gone were traffic until the look that misses them", () => {
    const { look } = judging({}, createConnectionMemory(Math.random, 5));
    look(reading([listener(), ...many(8)]), 10_000);
    expect(look(reading([listener(), ...many(4)]), 20_000)).toMatchObject({
      activity: "quiet",
      lastEvidenceMs: 20_000,
    });
    expect(look(reading([listener(), ...many(4)]), 30_000)).toMatchObject({
      activity: "quiet",
      lastEvidenceMs: 20_000,
    });
  });

  describe("that find room later", () => {
    const room = () => createConnectionMemory(Math.random, 1);
    /** The only room goes to another connection, and is free when the second of these looks is over. */
    const crowd = ({ look }: ReturnType<typeof judging>, ...others: readonly TextSocket[]) => {
      look(reading([listener(), socket({ localAddress: "2001:db8::1" }), ...others]), 10_000);
      look(reading([listener(), ...others]), 11_000);
    };

    test("are a client's as before, though their address is known as the Pod's own by then", () => {
      const ours = { localAddress: "2001:db8::1", peerAddress: POD };
      for (const memory of [room(), createPlainMemory()]) {
        const judged = judging({}, memory);
        // That the peer is an address of the Pod is shown after the connection.
        crowd(judged, socket(ours), socket());
        judged.look(reading([listener(), socket(ours)]), 12_000);
        const seen = judged.look(reading([listener(), socket({ ...ours, state: tcp.SYN_RECV })]), 13_000);
        expect(seen).toMatchObject({ activity: "busy", lastEvidenceMs: 13_000, untracked: 0 });
      }
    });

    test("are no probes, though the kubelet is known by then", () => {
      const judged = judging(PROBED, room());
      const fromNode = socket({ peerAddress: NODE });
      crowd(judged, fromNode);
      judged.judge.addKubelet(NODE);
      const seen = judged.look(reading([listener(), fromNode]), 12_000);
      expect(seen).toMatchObject({ openConnections: 1, untracked: 0 });
    });

    test("have no past that could prove an answer: what went out may have been a greeting", () => {
      const judged = judging({}, room());
      const counts = { dataSegmentsSent: 1, pureAcksSent: 0, lastDataSentMs: 400, lastAckReceivedMs: 400 };
      crowd(judged, socket({ ...counts, dataSegmentsReceived: 0, bytesReceived: 0 }));
      const asked = socket({ ...counts, dataSegmentsReceived: 1, lastDataReceivedMs: 400 });
      const seen = judged.look(reading([listener(), asked]), 12_000);
      expect(seen).toMatchObject({ activity: "ambiguous", evidenceSource: "ambiguous", untracked: 0 });
    });

    test("do not explain a connection that came and went unseen", () => {
      const judged = judging({}, room());
      crowd(judged, socket());
      judged.look(reading([listener(), socket()]), 12_000);
      const seen = judged.look(reading([listener(), socket()], { passiveOpens: 101 }), 13_000);
      expect(seen).toMatchObject({ lastEvidenceMs: 13_000, evidenceSource: "passive-opens" });
    });
  });

  test("that arrive at more addresses of the Pod than are remembered are counted too", () => {
    const { look } = judging();
    const at = Array.from({ length: 300 }, (_, n) => socket({ localAddress: `10.3.${n >> 8}.${n & 255}` }));
    expect(look(reading([listener(), ...at]), 10_000)).toMatchObject({
      openConnections: 300,
      untracked: 44,
      activity: "untracked",
    });
  });
});

test("addresses and ports that a client chooses meet in a slot no more often than by chance", () => {
  const near = (n: number) => ({
    peer: { a: 0, b: 0, c: 0xffff, d: 0x0a010000 + (n >> 6) },
    ports: 8080 * 65_536 + (n % 64) * 1_024,
  });
  const far = (n: number) => ({ peer: { a: n * 65_536, b: 7, c: n, d: 1 }, ports: 8080 * 65_536 + 50_000 });
  const SLOTS = 262_144;
  for (const one of [near, far]) {
    const hash = createSlotHash(Math.random);
    const taken = new Map<number, number>();
    for (let n = 0; n < 60_000; n += 1) {
      const { peer, ports } = one(n);
      const slot = hash.slotOf(peer, ports, 0, SLOTS);
      taken.set(slot, (taken.get(slot) ?? 0) + 1);
    }
    expect(Math.min(...taken.keys())).toBeGreaterThanOrEqual(0);
    expect(Math.max(...taken.keys())).toBeLessThan(SLOTS);
    // Among 60 000 in 262 144 by chance: hardly ever 9 in one.
    expect(Math.max(...taken.values())).toBeLessThan(24);
  }
});

test("a hundred thousand connections of both families are found again, and take ten words each", () => {
  const memory = createConnectionMemory(Math.random);
  const at = (n: number) =>
    inWords(
      socket({ peerPort: 1_024 + (n >> 3), peerAddress: n % 2 === 0 ? `10.4.0.${n % 8}` : `2001:db8::${n % 8}` }),
    );
  const fill = (from: number, to: number) => {
    memory.startSample(1_000);
    for (let n = from; n < to; n += 1) {
      const connection = at(n);
      const found = memory.find(connection);
      const record = found >= 0 ? found : memory.add(connection);
      memory.store(record, { ...SEEN, dataSegmentsSent: n });
    }
    memory.dropMissing();
  };
  fill(0, 100_000);
  fill(50_000, 120_000);
  expect([memory.find(at(49_999)), memory.find(at(120_000))]).toEqual([-1, -1]);
  for (let n = 50_000; n < 120_000; n += 7) expect(memory.load(memory.find(at(n))).dataSegmentsSent).toBe(n);
});

const SEEN: TrackedConnection = {
  firstSeenMs: 1_000,
  open: true,
  working: false,
  kind: "traffic",
  dataSegmentsReceived: 1,
  dataSegmentsSent: 1,
  pureAcksSent: 1,
  past: START,
};

function socketOf(of: {
  port: number;
  state: number;
  received: number;
  sent: number;
  receivedMs: number;
  sentMs: number;
}): TextSocket {
  return socket({
    peerPort: of.port,
    state: of.state,
    dataSegmentsReceived: of.received,
    dataSegmentsSent: of.sent,
    lastDataReceivedMs: of.receivedMs,
    lastDataSentMs: of.sentMs,
  });
}
