import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DEFAULT_SETTINGS } from "../../src/contract/drain-settings.ts";
import * as tcp from "../../src/manager/sockets/tcp-states.ts";
import { createConnectionMemory } from "../../src/manager/traffic/connection-memory.ts";
import { createTrafficMonitor, NO_CONNECTIONS } from "../../src/manager/traffic/traffic-monitor.ts";
import type { TextSocket } from "./socket-lists.ts";
import { CLIENT, judging, listener, NODE, POD, reading, socket } from "./traffic-room.ts";

const ended = { state: tcp.TIME_WAIT, uid: 0, lastDataSentMs: -1, lastDataReceivedMs: -1, bytesReceived: -1 };

describe("a look", () => {
  test("is unknown when the kernel could not be read, and says so", () => {
    const seen = createTrafficMonitor(DEFAULT_SETTINGS, createConnectionMemory(Math.random)).finishSample(
      undefined,
      10,
      NO_CONNECTIONS,
    );
    expect(seen).toEqual({ known: false, why: expect.stringContaining("could not be read"), blind: true });
  });

  test("is unknown and not blind when the kernel's table changed under it, and only then", () => {
    const { judge } = judging();
    judge.startSample(0);
    judge.markIncomplete();
    const torn = { known: false, why: expect.stringContaining("could not be read completely"), blind: false };
    expect(judge.finishSample(undefined, 10, NO_CONNECTIONS)).toEqual(torn);
    judge.startSample(20);
    expect(judge.finishSample(undefined, 30, NO_CONNECTIONS)).toMatchObject({ blind: true });
  });

  test.for<[string, Partial<TextSocket>, boolean]>([
    ["an open connection without ages", {}, true],
    ["bytes that are unread", { receiveQueue: 1 }, false],
    ["bytes that are unsent", { sendQueue: 1 }, false],
    ["a handshake", { state: tcp.SYN_RECV }, false],
    ["only an ended connection", { state: tcp.TIME_WAIT }, false],
    ["ages that say idle", { lastDataSentMs: 300, lastDataReceivedMs: 304, bytesReceived: 1 }, false],
  ])("of %s leaves it unknown whether anyone is at work: %o", ([, over, isUnknown]) => {
    const ageless = { lastDataSentMs: -1, lastDataReceivedMs: -1, bytesReceived: -1 };
    const seen = judging().look(reading([listener(), socket({ ...ageless, ...over })], { source: "proc" }), 10_000);
    expect(seen.activity === "unknown").toBe(isUnknown);
  });

  test.for<[string, readonly TextSocket[]]>([
    ["another client is at work", [listener(), socket({ peerPort: 50_001, receiveQueue: 1 })]],
    ["a connection waits to be accepted", [listener({ receiveQueue: 1 })]],
  ])("is not left unknown where %s", ([, others]) => {
    const ageless = socket({ lastDataSentMs: -1, lastDataReceivedMs: -1, bytesReceived: -1 });
    const seen = judging().look(reading([...others, ageless], { source: "proc" }), 10_000);
    expect(seen).toMatchObject({ activity: "busy" });
  });

  test("is quiet with an idle connection and dates its last byte", () => {
    const seen = judging().look(
      reading([listener(), socket({ lastDataSentMs: 300, lastDataReceivedMs: 304, lastAckReceivedMs: 260 })]),
      10_000,
    );
    expect(seen).toMatchObject({
      activity: "quiet",
      lastEvidenceMs: 9_700,
      openConnections: 1,
      hasTcpListener: true,
      evidenceSource: "netlink",
    });
  });

  test("is not quiet while a request is open, and that is evidence now", () => {
    const seen = judging().look(
      reading([listener(), socket({ lastDataSentMs: 9_000, lastDataReceivedMs: 700 })]),
      10_000,
    );
    expect(seen).toMatchObject({ activity: "busy", lastEvidenceMs: 10_000 });
  });

  test("is not quiet on an ambiguous order, names it, and dates it by the bytes rather than the doubt", () => {
    const seen = judging().look(
      reading([listener(), socket({ lastDataSentMs: 200, lastDataReceivedMs: 200, lastAckReceivedMs: 200 })]),
      10_000,
    );
    expect(seen).toMatchObject({ activity: "ambiguous", lastEvidenceMs: 9_800, evidenceSource: "ambiguous" });
  });

  test("is not quiet while connections wait for accept", () => {
    const seen = judging().look(reading([listener({ receiveQueue: 3 })]), 10_000);
    expect(seen).toMatchObject({ activity: "busy", lastEvidenceMs: 10_000 });
  });

  test("is not quiet while a handshake is under way", () => {
    const seen = judging().look(
      reading([listener(), socket({ state: tcp.SYN_RECV, lastDataSentMs: -1, lastDataReceivedMs: -1 })]),
      10_000,
    );
    expect(seen).toMatchObject({ activity: "busy", lastEvidenceMs: 10_000, openConnections: 0 });
  });

  test("is quiet again over a handshake that no one completes, after five seconds", () => {
    const { look } = judging();
    const half = reading([listener(), socket({ state: tcp.SYN_RECV, lastDataSentMs: -1, lastDataReceivedMs: -1 })]);
    expect(look(half, 10_000)).toMatchObject({ activity: "busy" });
    expect(look(half, 15_000)).toMatchObject({ activity: "busy", lastEvidenceMs: 15_000 });
    expect(look(half, 15_001)).toMatchObject({ activity: "quiet", lastEvidenceMs: 15_000 });
  });

  test("is never quiet over an open connection whose idleness the source cannot tell", () => {
    const blind = { lastDataSentMs: -1, lastDataReceivedMs: -1, lastAckReceivedMs: -1, bytesReceived: -1 };
    const { look } = judging();
    expect(look(reading([listener(), socket(blind)], { source: "proc" }), 1_000)).toMatchObject({
      activity: "unknown",
      lastEvidenceMs: -1,
    });
    expect(look(reading([listener(), socket(blind)], { source: "proc" }), 2_000)).toMatchObject({
      activity: "unknown",
      lastEvidenceMs: -1,
    });
    expect(look(reading([listener()], { source: "proc" }), 3_000)).toMatchObject({
      activity: "quiet",
      lastEvidenceMs: -1,
      evidenceSource: "proc",
    });
  });

  test("keeps the evidence of an earlier look", () => {
    const { judge, look } = judging();
    look(reading([listener(), socket({ receiveQueue: 9 })]), 1_000);
    expect(judge.finishSample(undefined, 1_500, NO_CONNECTIONS).known).toBe(false);
    expect(look(reading([listener(), socket()]), 2_000).lastEvidenceMs).toBe(1_000);
  });

  test("does not date again what has not moved, however late the looks come", () => {
    const { look } = judging();
    const first = { lastDataSentMs: 300, lastDataReceivedMs: 304, lastAckReceivedMs: 260 };
    look(reading([listener(), socket(first)]), 10_000);
    const later = { lastDataSentMs: 1_260, lastDataReceivedMs: 1_264, lastAckReceivedMs: 1_220 };
    expect(look(reading([listener(), socket(later)]), 11_000).lastEvidenceMs).toBe(9_700);
    expect(look(reading([listener(), socket({ ...later, dataSegmentsSent: 3 })]), 11_000).lastEvidenceMs).toBe(9_740);
  });

  test("says no evidence where the last byte is older than the clock", () => {
    expect(judging().look(reading([listener(), socket()]), 1_000).lastEvidenceMs).toBe(-1);
  });
});

describe("an ambiguous order", () => {
  const ambiguous = { lastDataSentMs: 600, lastDataReceivedMs: 600, lastAckReceivedMs: 600 };
  const look2 = (first: object, second: object) => {
    const { look } = judging();
    look(reading([listener(), socket(first)]), 10_000);
    return look(reading([listener(), socket(second)]), 20_000);
  };

  test("is an answered request when no acknowledgement went out on its own since the look before", () => {
    const seen = look2(
      { pureAcksSent: 4, dataSegmentsReceived: 7 },
      { ...ambiguous, pureAcksSent: 4, dataSegmentsReceived: 8 },
    );
    expect(seen).toMatchObject({ activity: "quiet", lastEvidenceMs: 19_400, evidenceSource: "netlink" });
  });

  test("is an answered request when one segment came since all was answered, and data went out", () => {
    const seen = look2(
      { pureAcksSent: 4, dataSegmentsReceived: 7 },
      { ...ambiguous, pureAcksSent: 5, dataSegmentsReceived: 8, dataSegmentsSent: 3 },
    );
    expect(seen).toMatchObject({ activity: "quiet", lastEvidenceMs: 19_400 });
  });

  test("that was settled stays settled", () => {
    const { look } = judging();
    const counts = { pureAcksSent: 5, dataSegmentsReceived: 8, dataSegmentsSent: 3 };
    look(reading([listener(), socket({ pureAcksSent: 4, dataSegmentsReceived: 7 })]), 10_000);
    look(reading([listener(), socket({ ...ambiguous, ...counts })]), 20_000);
    const later = { lastDataSentMs: 800, lastDataReceivedMs: 800, lastAckReceivedMs: 800 };
    expect(look(reading([listener(), socket({ ...later, ...counts })]), 20_200).activity).toBe("quiet");
  });

  test("stays one when an acknowledgement and nothing else went out", () => {
    const seen = look2(
      { pureAcksSent: 4, dataSegmentsReceived: 7 },
      { ...ambiguous, pureAcksSent: 5, dataSegmentsReceived: 8 },
    );
    expect(seen).toMatchObject({ activity: "ambiguous", evidenceSource: "ambiguous" });
  });

  test("stays one when two segments came, which the data that went out may not answer both", () => {
    const seen = look2(
      { pureAcksSent: 4, dataSegmentsReceived: 6 },
      { ...ambiguous, pureAcksSent: 5, dataSegmentsReceived: 8, dataSegmentsSent: 3 },
    );
    expect(seen).toMatchObject({ activity: "ambiguous", evidenceSource: "ambiguous" });
  });

  test("stays one when the look before came after the data", () => {
    const seen = look2(
      { ...ambiguous, pureAcksSent: 5, dataSegmentsReceived: 8 },
      { ...ambiguous, pureAcksSent: 5, dataSegmentsReceived: 8 },
    );
    expect(seen).toMatchObject({ activity: "ambiguous", evidenceSource: "ambiguous" });
  });

  test("stays one while the acknowledgement may still be put off", () => {
    const young = { lastDataSentMs: 200, lastDataReceivedMs: 200, lastAckReceivedMs: 200 };
    const seen = look2(
      { pureAcksSent: 4, dataSegmentsReceived: 7 },
      { ...young, pureAcksSent: 4, dataSegmentsReceived: 8 },
    );
    expect(seen).toMatchObject({ activity: "ambiguous", evidenceSource: "ambiguous" });
  });

  test("is an answered request when one segment came in its whole life and data went out", () => {
    expect(
      judging().look(reading([listener(), socket({ ...ambiguous, dataSegmentsReceived: 1 })]), 9_000).activity,
    ).toBe("quiet");
    expect(
      judging().look(
        reading([listener(), socket({ ...ambiguous, dataSegmentsReceived: 1, dataSegmentsSent: 0 })]),
        9_000,
      ).activity,
    ).toBe("busy");
  });

  test("is an answered request when the connection never acknowledged anything on its own", () => {
    expect(judging().look(reading([listener(), socket({ ...ambiguous, pureAcksSent: 0 })]), 9_000).activity).toBe(
      "quiet",
    );
  });

  test("stays one where the kernel does not count segments", () => {
    const uncounted = { ...ambiguous, pureAcksSent: -1, dataSegmentsReceived: -1, dataSegmentsSent: -1 };
    expect(judging().look(reading([listener(), socket(uncounted)]), 9_000).activity).toBe("ambiguous");
  });
});

describe("connections between looks", () => {
  test("that ended are dated by what the kernel kept of them", () => {
    const { look } = judging();
    look(reading([listener()]), 1_000);
    const seen = look(reading([listener(), socket({ ...ended, lastAckReceivedMs: 60 })]), 1_150);
    expect(seen).toMatchObject({ activity: "quiet", lastEvidenceMs: 1_090, openConnections: 0 });
  });

  test("that had ended before the first look are no news", () => {
    expect(
      judging().look(reading([listener(), socket({ ...ended, lastAckReceivedMs: 60 })]), 1_000).lastEvidenceMs,
    ).toBe(-1);
  });

  test("count once, not again at every look", () => {
    const { look } = judging();
    look(reading([listener()]), 1_000);
    look(reading([listener(), socket({ ...ended, lastAckReceivedMs: -1 })]), 1_150);
    expect(look(reading([listener(), socket({ ...ended, lastAckReceivedMs: -1 })]), 1_300).lastEvidenceMs).toBe(1_150);
  });

  test("that take the addresses of an ended one are new", () => {
    const { look } = judging();
    look(reading([listener(), socket({ ...ended, lastAckReceivedMs: 500 })]), 1_000);
    const fresh = socket({ lastDataSentMs: 20, lastDataReceivedMs: 20, lastAckReceivedMs: 20, bytesReceived: 0 });
    const seen = look(reading([listener(), fresh]), 2_000);
    expect(seen.lastEvidenceMs).toBe(1_980);
    expect(seen.left[0]?.ageMs).toBe(0);
  });

  test("that worked in the last look and are gone without a trace were traffic until now", () => {
    const { look } = judging();
    look(reading([listener(), socket({ receiveQueue: 5 })]), 1_000);
    expect(look(reading([listener()]), 1_150)).toMatchObject({ activity: "quiet", lastEvidenceMs: 1_150 });
  });

  test("that were idle and are closed are no traffic", () => {
    const { look } = judging();
    look(reading([listener(), socket()]), 1_000);
    expect(look(reading([listener(), socket({ ...ended, lastAckReceivedMs: 10 })]), 1_150).lastEvidenceMs).toBe(-1);
  });

  test("stay drained when the server has closed its listener", () => {
    const { look } = judging();
    look(reading([listener(), socket({ receiveQueue: 5 })]), 1_000);
    expect(look(reading([socket({ receiveQueue: 5 })]), 1_150)).toMatchObject({
      activity: "busy",
      openConnections: 1,
      hasTcpListener: false,
    });
  });

  test("shown twice in one dump count once", () => {
    expect(judging().look(reading([listener(), socket(), socket()]), 1_000).openConnections).toBe(1);
  });

  test("are counted all and named up to twenty", () => {
    const many = Array.from({ length: 300 }, (_, n) => socket({ peerPort: 20_000 + n }));
    const { look } = judging();
    look(reading([listener(), ...many]), 1_000);
    const seen = look(reading([listener(), ...many]), 4_000);
    expect(seen.left).toHaveLength(20);
    expect(seen.leftTotal).toBe(300);
    expect(seen.left[0]).toEqual({ local: `${POD}:8080`, peer: `${CLIENT}:20000`, ageMs: 3_000, state: "ESTABLISHED" });
  });
});

describe("the kernel's count of handshakes", () => {
  test("proves a connection that came and went between two looks", () => {
    const { look } = judging();
    look(reading([listener()]), 1_000);
    expect(look(reading([listener()], { passiveOpens: 101 }), 1_150)).toMatchObject({
      lastEvidenceMs: 1_150,
      evidenceSource: "passive-opens",
      activity: "quiet",
    });
  });

  test.for([
    { says: "the manager's own accepts", dials: 0, accepts: 3, over: { passiveOpens: 103 } },
    { says: "the manager's own dials", dials: 2, accepts: 0, over: { passiveOpens: 102, activeOpens: 52 } },
    { says: "connections between containers", dials: 0, accepts: 0, over: { passiveOpens: 104, activeOpens: 54 } },
    {
      says: "dialled connections that hide accepted ones",
      dials: 0,
      accepts: 0,
      over: { passiveOpens: 101, activeOpens: 53 },
    },
    { says: "a count that cannot be read", dials: 0, accepts: 0, over: { passiveOpens: -1 } },
    { says: "a count that jumped back", dials: 0, accepts: 0, over: { passiveOpens: 3, activeOpens: 1 } },
  ])("proves nothing from $says", ({ dials, accepts, over }) => {
    const { look } = judging();
    look(reading([listener()]), 1_000);
    expect(look(reading([listener()], over), 1_150, dials, accepts).lastEvidenceMs).toBe(-1);
  });

  test("still proves what exceeds the manager's own share", () => {
    const { look } = judging();
    look(reading([listener()]), 1_000);
    expect(look(reading([listener()], { passiveOpens: 104, activeOpens: 51 }), 1_150, 1, 2).lastEvidenceMs).toBe(1_150);
  });

  test("waits its turn for connections at the manager's own port that are not accepted yet", () => {
    const { look } = judging();
    const ours = listener({ localPort: 17_890 });
    look(reading([listener(), ours]), 1_000);
    expect(look(reading([listener(), { ...ours, receiveQueue: 2 }], { passiveOpens: 102 }), 1_150).lastEvidenceMs).toBe(
      -1,
    );
    expect(look(reading([listener(), ours], { passiveOpens: 102 }), 1_300, 0, 2).lastEvidenceMs).toBe(-1);
  });

  test("does not date again what the look itself has found", () => {
    const { look } = judging();
    look(reading([listener()]), 1_000);
    const found = socket({ ...ended, lastAckReceivedMs: 120 });
    expect(look(reading([listener(), found], { passiveOpens: 101 }), 1_150).lastEvidenceMs).toBe(1_030);
  });

  test("is not asked where a port that is not drained can be reached", () => {
    const { look } = judging({ ignorePorts: [9_090] });
    const both = [listener(), listener({ localPort: 9_090 })];
    look(reading(both), 1_000);
    expect(look(reading(both, { passiveOpens: 105 }), 1_150).lastEvidenceMs).toBe(-1);
  });

  test("is not asked where the Pod shares its network namespace", () => {
    const { look } = judging({ addressScope: "127.0.1.5" });
    const at = [listener({ localAddress: "127.0.1.5" })];
    look(reading(at), 1_000);
    expect(look(reading(at, { passiveOpens: 105 }), 1_150).lastEvidenceMs).toBe(-1);
  });

  test("allows the kubelet its probes and no more", () => {
    const { look } = judging({ kubeletProbes: [{ port: 8080, periodMs: 1_000 }] });
    let passiveOpens = 100;
    look(reading([listener()], { passiveOpens }), 1_000);
    for (let nowMs = 2_000; nowMs <= 20_000; nowMs += 1_000) {
      passiveOpens += 1;
      expect(look(reading([listener()], { passiveOpens }), nowMs).lastEvidenceMs).toBe(-1);
    }
    expect(look(reading([listener()], { passiveOpens: passiveOpens + 3 }), 20_150).lastEvidenceMs).toBe(20_150);
  });
});

describe("drain ports", () => {
  test.for([
    { says: "loopback", over: { localAddress: "127.0.0.1" } },
    { says: "IPv6 loopback", over: { family: 10, localAddress: "::1" } },
    { says: "the manager", over: { localPort: 17_890 } },
    { says: "Istio's inbound port", over: { localPort: 15_006 } },
    { says: "Istio's last port", over: { localPort: 15_090 } },
    { says: "Linkerd's inbound port", over: { localPort: 4_143 } },
    { says: "an ignored port", over: { localPort: 9_100 } },
  ])("leave out $says", ({ over }) => {
    const at = listener(over);
    const seen = judging({ ignorePorts: [9_100] }).look(
      reading([at, socket({ localPort: at.localPort, receiveQueue: 8 }), { ...at, receiveQueue: 4 }]),
      1_000,
    );
    expect(seen).toMatchObject({ hasTcpListener: false, openConnections: 0, activity: "quiet" });
  });

  test("are those the settings name and no others, even on loopback", () => {
    const { look } = judging({ drainPorts: [9_000] });
    const seen = look(
      reading([listener({ localPort: 9_000, localAddress: "127.0.0.1" }), listener({ receiveQueue: 4 })]),
      1_000,
    );
    expect(seen).toMatchObject({ hasTcpListener: true, activity: "quiet" });
    expect(look(reading([listener({ receiveQueue: 4 })]), 2_000).hasTcpListener).toBe(false);
  });

  test("are not the far ports of connections the Pod dialled", () => {
    const dialled = socket({ localPort: 45_000, peerPort: 5_432, receiveQueue: 7 });
    expect(judging().look(reading([listener(), dialled]), 1_000)).toMatchObject({
      openConnections: 0,
      activity: "quiet",
    });
  });

  test("of one address count only that address, loopback or not", () => {
    const { look } = judging({ addressScope: "127.0.1.5" });
    const mine = { localAddress: "127.0.1.5" };
    const other = { localAddress: "127.0.1.6" };
    const seen = look(
      reading([
        listener(mine),
        listener(other),
        socket({ ...mine, peerAddress: "127.0.0.1" }),
        socket({ ...other, receiveQueue: 9 }),
      ]),
      9_000,
    );
    expect(seen).toMatchObject({ hasTcpListener: true, openConnections: 1, activity: "quiet", lastEvidenceMs: 4_000 });
    expect(look(reading([listener(other), listener({ receiveQueue: 3 })]), 9_500)).toMatchObject({
      hasTcpListener: false,
      activity: "quiet",
    });
  });

  test("of one address see the trace that a client in the same namespace kept", () => {
    const { look } = judging({ addressScope: "127.0.1.5" });
    const at = [listener({ localAddress: "127.0.1.5" })];
    look(reading(at), 1_000);
    const trace = socket({
      ...ended,
      localAddress: "127.0.0.1",
      localPort: 41_000,
      peerAddress: "127.0.1.5",
      peerPort: 8080,
      lastAckReceivedMs: 40,
    });
    expect(look(reading([...at, trace]), 1_150).lastEvidenceMs).toBe(1_110);
  });

  test("count UDP that is neither ours nor ignored", () => {
    const { look } = judging({ ignorePorts: [53] });
    expect(look(reading([], { udpPorts: [53, 17_890] }), 1).hasUdp).toBe(false);
    expect(look(reading([], { udpPorts: [53, 5_000] }), 2).hasUdp).toBe(true);
  });
});

describe("peers", () => {
  test("of the Pod itself bring no new connections but still hold their requests", () => {
    const { look } = judging();
    const own = { localAddress: POD, peerAddress: POD };
    look(reading([listener()]), 1_000);
    expect(look(reading([listener(), socket({ ...own, ...ended, lastAckReceivedMs: 5 })]), 1_150).lastEvidenceMs).toBe(
      -1,
    );
    expect(look(reading([listener(), socket({ ...own, peerPort: 6, receiveQueue: 3 })]), 1_300).activity).toBe("busy");
  });

  test("behind Istio's sidecar are someone else's", () => {
    const { look } = judging();
    look(reading([listener()]), 1_000);
    const passed = socket({ ...ended, localAddress: "127.0.0.1", peerAddress: "127.0.0.6", lastAckReceivedMs: 5 });
    expect(look(reading([listener(), passed]), 1_150).lastEvidenceMs).toBe(1_145);
  });

  const probe = (port: number) => socket({ ...ended, peerAddress: NODE, peerPort: port, lastAckReceivedMs: 5 });

  test("that are the kubelet bring probes up to the probes' own rate", () => {
    const { judge, look } = judging({ kubeletProbes: [{ port: 8080, periodMs: 10_000 }] });
    judge.addKubelet(`::ffff:${NODE}`);
    look(reading([listener()]), 1_000);
    expect(look(reading([listener(), probe(1), probe(2)]), 1_150).lastEvidenceMs).toBe(-1);
    expect(look(reading([listener(), probe(1), probe(2), probe(3)]), 1_300).lastEvidenceMs).toBe(1_295);
  });

  test("that are the kubelet leave a drain quiet for as long as it probes at its rate, however looks fall", () => {
    const periodMs = 1_000;
    // A look finds a probe up to 150 ms after it came, so two of them may seem closer than they were.
    const delays = fc.array(fc.integer({ min: 0, max: 150 }), { minLength: 60, maxLength: 60 });
    const before = fc.integer({ min: 0, max: 60 });
    fc.assert(
      fc.property(delays, before, fc.integer({ min: 150, max: 4_500 }), (late, ended, gapMs) => {
        const { judge, look } = judging({ kubeletProbes: [{ port: 8080, periodMs }] });
        judge.addKubelet(NODE);
        const seen = Array.from({ length: ended }, (_, index) => probe(40_000 + index));
        look(reading([listener(), ...seen]), 1_000);
        const foundAt = new Map<number, TextSocket[]>();
        for (const [index, delayMs] of late.entries()) {
          const atMs = Math.max(1_000 + gapMs, 1_100 + index * periodMs + delayMs);
          foundAt.set(atMs, [...(foundAt.get(atMs) ?? []), probe(1_000 + index)]);
        }
        for (const [atMs, found] of [...foundAt].sort(([a], [b]) => a - b)) {
          seen.push(...found);
          expect(look(reading([listener(), ...seen]), atMs).lastEvidenceMs).toBe(-1);
        }
      }),
      { numRuns: 200 },
    );
  });

  test("that are the kubelet at twice the probes' rate are clients among them", () => {
    const { judge, look } = judging({ kubeletProbes: [{ port: 8080, periodMs: 1_000 }] });
    judge.addKubelet(NODE);
    const seen: TextSocket[] = [];
    look(reading([listener()]), 1_000);
    let evidence = 0;
    for (let index = 0; index < 20; index += 1) {
      seen.push(probe(1_000 + index));
      const atMs = 1_500 + index * 500;
      if (look(reading([listener(), ...seen]), atMs).lastEvidenceMs === atMs - 5) evidence += 1;
    }
    expect(evidence).toBeGreaterThanOrEqual(7);
  });

  test("that are the kubelet on a port without probes are clients", () => {
    const { judge, look } = judging({ kubeletProbes: [{ port: 9, periodMs: 10_000 }] });
    judge.addKubelet(NODE);
    look(reading([listener()]), 1_000);
    expect(look(reading([listener(), probe(1)]), 1_150).lastEvidenceMs).toBe(1_145);
  });

  test("with an address of the Pod are never believed to be the kubelet", () => {
    const { judge, look } = judging({ kubeletProbes: [{ port: 8080, periodMs: 10_000 }] });
    judge.addKubelet(POD);
    expect(look(reading([listener(), socket({ peerAddress: POD, receiveQueue: 3 })]), 1_000).activity).toBe("busy");
  });

  test("that are the kubelet get their answer, since a client behind the node looks alike, and are no traffic", () => {
    const { judge, look } = judging({ kubeletProbes: [{ port: 8080, periodMs: 10_000 }] });
    judge.addKubelet(NODE);
    const asking = socket({ peerAddress: NODE, lastDataReceivedMs: 90, lastDataSentMs: 100, peerPort: 9 });
    const answered = socket({ peerAddress: NODE, lastDataReceivedMs: 290, lastDataSentMs: 10, peerPort: 9 });
    expect(look(reading([listener(), asking]), 1_000)).toMatchObject({ activity: "busy", lastEvidenceMs: -1 });
    expect(look(reading([listener(), answered]), 1_200)).toMatchObject({ activity: "quiet", lastEvidenceMs: -1 });
  });

  test("that are the kubelet and stay longer than any probe are clients after all", () => {
    const { judge, look } = judging({ kubeletProbes: [{ port: 8080, periodMs: 10_000 }] });
    judge.addKubelet(NODE);
    const long = socket({ peerAddress: NODE, receiveQueue: 3 });
    expect(look(reading([listener(), long]), 1_000)).toMatchObject({ openConnections: 0, lastEvidenceMs: -1 });
    expect(look(reading([listener(), long]), 11_001)).toMatchObject({ activity: "busy", openConnections: 1 });
  });
});

describe("whatever the kernel shows", () => {
  const anySocket = fc.record({
    family: fc.constantFrom(2, 10),
    state: fc.integer({ min: 0, max: 13 }),
    localAddress: fc.constantFrom(POD, "127.0.0.1", "0.0.0.0", "::"),
    localPort: fc.constantFrom(8080, 17_890, 15_006, 40_000),
    peerAddress: fc.constantFrom(CLIENT, POD, NODE, "127.0.0.1", "127.0.0.6"),
    peerPort: fc.integer({ min: 1, max: 6 }),
    uid: fc.constantFrom(0, 1000),
    receiveQueue: fc.integer({ min: 0, max: 3 }),
    sendQueue: fc.integer({ min: 0, max: 3 }),
    lastDataSentMs: fc.integer({ min: -1, max: 30_000 }),
    lastDataReceivedMs: fc.integer({ min: -1, max: 30_000 }),
    lastAckReceivedMs: fc.integer({ min: -1, max: 30_000 }),
    bytesReceived: fc.integer({ min: -1, max: 50 }),
    dataSegmentsReceived: fc.integer({ min: -1, max: 3 }),
    dataSegmentsSent: fc.integer({ min: -1, max: 3 }),
    pureAcksSent: fc.integer({ min: -1, max: 3 }),
  });

  test("evidence never lies in the future and never moves back", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.array(anySocket, { maxLength: 12 }), fc.nat(2_000), fc.nat(5)), { maxLength: 12 }),
        (looks) => {
          const { judge, look } = judging({ kubeletProbes: [{ port: 8080, periodMs: 500 }] });
          judge.addKubelet(NODE);
          let nowMs = 0;
          let before = -1;
          let passiveOpens = 0;
          for (const [sockets, laterMs, opens] of looks) {
            nowMs += laterMs;
            passiveOpens += opens;
            const seen = look(reading([listener(), ...sockets], { passiveOpens }), nowMs);
            expect(seen.lastEvidenceMs).toBeLessThanOrEqual(nowMs);
            expect(seen.lastEvidenceMs).toBeGreaterThanOrEqual(before);
            expect(seen.left.length).toBe(Math.min(20, seen.leftTotal));
            before = seen.lastEvidenceMs;
          }
        },
      ),
    );
  });
});
