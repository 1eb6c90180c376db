import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DEFAULT_SETTINGS } from "../../src/contract/drain-settings.ts";
import * as tcp from "../../src/manager/sockets/tcp-states.ts";
import { createConnectionMemory } from "../../src/manager/traffic/connection-memory.ts";
import { createTrafficMonitor, NO_CONNECTIONS } from "../../src/manager/traffic/traffic-monitor.ts";
import type { TextSocket } from "./socket-lists.ts";
import {
  CLIENT_ADDRESS,
  createTestMonitor,
  listener,
  NODE_ADDRESS,
  POD_ADDRESS,
  reading,
  socket,
} from "./traffic-room.ts";

const endedFields = { state: tcp.TIME_WAIT, uid: 0, lastDataSentMs: -1, lastDataReceivedMs: -1, bytesReceived: -1 };

describe("a sample of sockets", () => {
  test("is unknown and blind if the socket tables could not be read", () => {
    const observation = createTrafficMonitor(DEFAULT_SETTINGS, createConnectionMemory(Math.random)).finishSample(
      undefined,
      10,
      NO_CONNECTIONS,
    );
    expect(observation).toEqual({ known: false, why: expect.stringContaining("could not be read"), blind: true });
  });

  test("is unknown but not blind if the socket tables changed during the sample", () => {
    const { monitor } = createTestMonitor();
    monitor.startSample(0);
    monitor.markIncomplete();
    const incompleteObservation = {
      known: false,
      why: expect.stringContaining("could not be read completely"),
      blind: false,
    };
    expect(monitor.finishSample(undefined, 10, NO_CONNECTIONS)).toEqual(incompleteObservation);
    monitor.startSample(20);
    expect(monitor.finishSample(undefined, 30, NO_CONNECTIONS)).toMatchObject({ blind: true });
  });

  test.for<[string, "unknown" | "known", Partial<TextSocket>]>([
    ["an open connection without tcp_info", "unknown", {}],
    ["a connection with unread bytes", "known", { receiveQueue: 1 }],
    ["a connection with unsent bytes", "known", { sendQueue: 1 }],
    ["a connection in its handshake", "known", { state: tcp.SYN_RECV }],
    ["an ended connection", "known", { state: tcp.TIME_WAIT }],
    ["an idle connection with tcp_info", "known", { lastDataSentMs: 300, lastDataReceivedMs: 304, bytesReceived: 1 }],
  ])("of %s has %s activity", ([, expected, overrides]) => {
    const agelessFields = { lastDataSentMs: -1, lastDataReceivedMs: -1, bytesReceived: -1 };
    const observation = createTestMonitor().sample(
      reading([listener(), socket({ ...agelessFields, ...overrides })], { source: "proc" }),
      10_000,
    );
    expect(observation.activity === "unknown").toBe(expected === "unknown");
  });

  test.for<[string, readonly TextSocket[]]>([
    ["another client is busy", [listener(), socket({ peerPort: 50_001, receiveQueue: 1 })]],
    ["a connection waits in the backlog", [listener({ receiveQueue: 1 })]],
  ])("is busy, even with a connection without tcp_info, if %s", ([, others]) => {
    const ageless = socket({ lastDataSentMs: -1, lastDataReceivedMs: -1, bytesReceived: -1 });
    const observation = createTestMonitor().sample(reading([...others, ageless], { source: "proc" }), 10_000);
    expect(observation).toMatchObject({ activity: "busy" });
  });

  test("is quiet with an idle connection, and the evidence has the time of the last byte", () => {
    const observation = createTestMonitor().sample(
      reading([listener(), socket({ lastDataSentMs: 300, lastDataReceivedMs: 304, lastAckReceivedMs: 260 })]),
      10_000,
    );
    expect(observation).toMatchObject({
      activity: "quiet",
      lastEvidenceMs: 9_700,
      openConnections: 1,
      hasTcpListener: true,
      evidenceSource: "netlink",
    });
  });

  test("is busy during a request, and the evidence has the time of the sample", () => {
    const observation = createTestMonitor().sample(
      reading([listener(), socket({ lastDataSentMs: 9_000, lastDataReceivedMs: 700 })]),
      10_000,
    );
    expect(observation).toMatchObject({ activity: "busy", lastEvidenceMs: 10_000 });
  });

  test("is ambiguous if the order of the last data is unclear, and the evidence has the time of the data", () => {
    const observation = createTestMonitor().sample(
      reading([listener(), socket({ lastDataSentMs: 200, lastDataReceivedMs: 200, lastAckReceivedMs: 200 })]),
      10_000,
    );
    expect(observation).toMatchObject({ activity: "ambiguous", lastEvidenceMs: 9_800, evidenceSource: "ambiguous" });
  });

  test("is busy while connections wait in the backlog", () => {
    const observation = createTestMonitor().sample(reading([listener({ receiveQueue: 3 })]), 10_000);
    expect(observation).toMatchObject({ activity: "busy", lastEvidenceMs: 10_000 });
  });

  test("is busy during a handshake", () => {
    const observation = createTestMonitor().sample(
      reading([listener(), socket({ state: tcp.SYN_RECV, lastDataSentMs: -1, lastDataReceivedMs: -1 })]),
      10_000,
    );
    expect(observation).toMatchObject({ activity: "busy", lastEvidenceMs: 10_000, openConnections: 0 });
  });

  test("ignores a handshake that is incomplete for more than five seconds", () => {
    const { sample } = createTestMonitor();
    const readingWithHandshake = reading([
      listener(),
      socket({ state: tcp.SYN_RECV, lastDataSentMs: -1, lastDataReceivedMs: -1 }),
    ]);
    expect(sample(readingWithHandshake, 10_000)).toMatchObject({ activity: "busy" });
    expect(sample(readingWithHandshake, 15_000)).toMatchObject({ activity: "busy", lastEvidenceMs: 15_000 });
    expect(sample(readingWithHandshake, 15_001)).toMatchObject({ activity: "quiet", lastEvidenceMs: 15_000 });
  });

  test("has unknown activity while a connection without tcp_info is open", () => {
    const ageless = { lastDataSentMs: -1, lastDataReceivedMs: -1, lastAckReceivedMs: -1, bytesReceived: -1 };
    const { sample } = createTestMonitor();
    expect(sample(reading([listener(), socket(ageless)], { source: "proc" }), 1_000)).toMatchObject({
      activity: "unknown",
      lastEvidenceMs: -1,
    });
    expect(sample(reading([listener(), socket(ageless)], { source: "proc" }), 2_000)).toMatchObject({
      activity: "unknown",
      lastEvidenceMs: -1,
    });
    expect(sample(reading([listener()], { source: "proc" }), 3_000)).toMatchObject({
      activity: "quiet",
      lastEvidenceMs: -1,
      evidenceSource: "proc",
    });
  });

  test("keeps the evidence of an earlier sample", () => {
    const { monitor, sample } = createTestMonitor();
    sample(reading([listener(), socket({ receiveQueue: 9 })]), 1_000);
    expect(monitor.finishSample(undefined, 1_500, NO_CONNECTIONS).known).toBe(false);
    expect(sample(reading([listener(), socket()]), 2_000).lastEvidenceMs).toBe(1_000);
  });

  test("keeps the evidence of a connection without new data, even if the sample is late", () => {
    const { sample } = createTestMonitor();
    const firstAges = { lastDataSentMs: 300, lastDataReceivedMs: 304, lastAckReceivedMs: 260 };
    sample(reading([listener(), socket(firstAges)]), 10_000);
    const laterAges = { lastDataSentMs: 1_260, lastDataReceivedMs: 1_264, lastAckReceivedMs: 1_220 };
    expect(sample(reading([listener(), socket(laterAges)]), 11_000).lastEvidenceMs).toBe(9_700);
    expect(sample(reading([listener(), socket({ ...laterAges, dataSegmentsSent: 3 })]), 11_000).lastEvidenceMs).toBe(
      9_740,
    );
  });

  test("does not have evidence if the last byte is older than the start of the manager's clock", () => {
    expect(createTestMonitor().sample(reading([listener(), socket()]), 1_000).lastEvidenceMs).toBe(-1);
  });
});

describe("an unclear order of the last received and sent data", () => {
  const ambiguousAges = { lastDataSentMs: 600, lastDataReceivedMs: 600, lastAckReceivedMs: 600 };
  const sampleTwice = (first: object, second: object) => {
    const { sample } = createTestMonitor();
    sample(reading([listener(), socket(first)]), 10_000);
    return sample(reading([listener(), socket(second)]), 20_000);
  };

  test("means an answered request if no pure acknowledgement was sent since the last sample", () => {
    const observation = sampleTwice(
      { pureAcksSent: 4, dataSegmentsReceived: 7 },
      { ...ambiguousAges, pureAcksSent: 4, dataSegmentsReceived: 8 },
    );
    expect(observation).toMatchObject({ activity: "quiet", lastEvidenceMs: 19_400, evidenceSource: "netlink" });
  });

  test("means an answered request if one segment was received since the last response, and data was sent", () => {
    const observation = sampleTwice(
      { pureAcksSent: 4, dataSegmentsReceived: 7 },
      { ...ambiguousAges, pureAcksSent: 5, dataSegmentsReceived: 8, dataSegmentsSent: 3 },
    );
    expect(observation).toMatchObject({ activity: "quiet", lastEvidenceMs: 19_400 });
  });

  test("remains resolved in later samples", () => {
    const { sample } = createTestMonitor();
    const counts = { pureAcksSent: 5, dataSegmentsReceived: 8, dataSegmentsSent: 3 };
    sample(reading([listener(), socket({ pureAcksSent: 4, dataSegmentsReceived: 7 })]), 10_000);
    sample(reading([listener(), socket({ ...ambiguousAges, ...counts })]), 20_000);
    const laterAges = { lastDataSentMs: 800, lastDataReceivedMs: 800, lastAckReceivedMs: 800 };
    expect(sample(reading([listener(), socket({ ...laterAges, ...counts })]), 20_200).activity).toBe("quiet");
  });

  test("stays ambiguous if only an acknowledgement was sent", () => {
    const observation = sampleTwice(
      { pureAcksSent: 4, dataSegmentsReceived: 7 },
      { ...ambiguousAges, pureAcksSent: 5, dataSegmentsReceived: 8 },
    );
    expect(observation).toMatchObject({ activity: "ambiguous", evidenceSource: "ambiguous" });
  });

  test("stays ambiguous after two received segments, because the sent data may answer only one", () => {
    const observation = sampleTwice(
      { pureAcksSent: 4, dataSegmentsReceived: 6 },
      { ...ambiguousAges, pureAcksSent: 5, dataSegmentsReceived: 8, dataSegmentsSent: 3 },
    );
    expect(observation).toMatchObject({ activity: "ambiguous", evidenceSource: "ambiguous" });
  });

  test("stays ambiguous if the last sample is newer than the data", () => {
    const observation = sampleTwice(
      { ...ambiguousAges, pureAcksSent: 5, dataSegmentsReceived: 8 },
      { ...ambiguousAges, pureAcksSent: 5, dataSegmentsReceived: 8 },
    );
    expect(observation).toMatchObject({ activity: "ambiguous", evidenceSource: "ambiguous" });
  });

  test("stays ambiguous while the kernel may still delay the acknowledgement", () => {
    const recentAges = { lastDataSentMs: 200, lastDataReceivedMs: 200, lastAckReceivedMs: 200 };
    const observation = sampleTwice(
      { pureAcksSent: 4, dataSegmentsReceived: 7 },
      { ...recentAges, pureAcksSent: 4, dataSegmentsReceived: 8 },
    );
    expect(observation).toMatchObject({ activity: "ambiguous", evidenceSource: "ambiguous" });
  });

  test("means an answered request if only one segment was ever received, and data was sent", () => {
    expect(
      createTestMonitor().sample(reading([listener(), socket({ ...ambiguousAges, dataSegmentsReceived: 1 })]), 9_000)
        .activity,
    ).toBe("quiet");
    expect(
      createTestMonitor().sample(
        reading([listener(), socket({ ...ambiguousAges, dataSegmentsReceived: 1, dataSegmentsSent: 0 })]),
        9_000,
      ).activity,
    ).toBe("busy");
  });

  test("means an answered request if the connection never sent a pure acknowledgement", () => {
    expect(
      createTestMonitor().sample(reading([listener(), socket({ ...ambiguousAges, pureAcksSent: 0 })]), 9_000).activity,
    ).toBe("quiet");
  });

  test("stays ambiguous if the kernel does not count segments", () => {
    const uncountedFields = { ...ambiguousAges, pureAcksSent: -1, dataSegmentsReceived: -1, dataSegmentsSent: -1 };
    expect(createTestMonitor().sample(reading([listener(), socket(uncountedFields)]), 9_000).activity).toBe(
      "ambiguous",
    );
  });
});

describe("connections that change between two samples", () => {
  test("are evidence at the time in their TIME_WAIT entry if they ended", () => {
    const { sample } = createTestMonitor();
    sample(reading([listener()]), 1_000);
    const observation = sample(reading([listener(), socket({ ...endedFields, lastAckReceivedMs: 60 })]), 1_150);
    expect(observation).toMatchObject({ activity: "quiet", lastEvidenceMs: 1_090, openConnections: 0 });
  });

  test("are not evidence if they ended before the first sample", () => {
    expect(
      createTestMonitor().sample(reading([listener(), socket({ ...endedFields, lastAckReceivedMs: 60 })]), 1_000)
        .lastEvidenceMs,
    ).toBe(-1);
  });

  test("are evidence in the first sample after their end, but not in later samples", () => {
    const { sample } = createTestMonitor();
    sample(reading([listener()]), 1_000);
    sample(reading([listener(), socket({ ...endedFields, lastAckReceivedMs: -1 })]), 1_150);
    expect(sample(reading([listener(), socket({ ...endedFields, lastAckReceivedMs: -1 })]), 1_300).lastEvidenceMs).toBe(
      1_150,
    );
  });

  test("count as new if they reuse the addresses of an ended connection", () => {
    const { sample } = createTestMonitor();
    sample(reading([listener(), socket({ ...endedFields, lastAckReceivedMs: 500 })]), 1_000);
    const newSocket = socket({ lastDataSentMs: 20, lastDataReceivedMs: 20, lastAckReceivedMs: 20, bytesReceived: 0 });
    const observation = sample(reading([listener(), newSocket]), 2_000);
    expect(observation.lastEvidenceMs).toBe(1_980);
    expect(observation.left[0]?.ageMs).toBe(0);
  });

  test("are evidence at the time of the sample if they were busy before and are gone", () => {
    const { sample } = createTestMonitor();
    sample(reading([listener(), socket({ receiveQueue: 5 })]), 1_000);
    expect(sample(reading([listener()]), 1_150)).toMatchObject({ activity: "quiet", lastEvidenceMs: 1_150 });
  });

  test("are not evidence if they were idle before and are closed", () => {
    const { sample } = createTestMonitor();
    sample(reading([listener(), socket()]), 1_000);
    expect(sample(reading([listener(), socket({ ...endedFields, lastAckReceivedMs: 10 })]), 1_150).lastEvidenceMs).toBe(
      -1,
    );
  });

  test("count even after the server has closed its listener", () => {
    const { sample } = createTestMonitor();
    sample(reading([listener(), socket({ receiveQueue: 5 })]), 1_000);
    expect(sample(reading([socket({ receiveQueue: 5 })]), 1_150)).toMatchObject({
      activity: "busy",
      openConnections: 1,
      hasTcpListener: false,
    });
  });

  test("count once if they appear twice in a dump", () => {
    expect(createTestMonitor().sample(reading([listener(), socket(), socket()]), 1_000).openConnections).toBe(1);
  });

  test("are all counted, but the report lists only the first twenty", () => {
    const manySockets = Array.from({ length: 300 }, (_, n) => socket({ peerPort: 20_000 + n }));
    const { sample } = createTestMonitor();
    sample(reading([listener(), ...manySockets]), 1_000);
    const observation = sample(reading([listener(), ...manySockets]), 4_000);
    expect(observation.left).toHaveLength(20);
    expect(observation.leftTotal).toBe(300);
    expect(observation.left[0]).toEqual({
      local: `${POD_ADDRESS}:8080`,
      peer: `${CLIENT_ADDRESS}:20000`,
      ageMs: 3_000,
      state: "ESTABLISHED",
    });
  });
});

describe("the kernel's counter of passive opens", () => {
  test("is evidence of a connection that opened and closed between two samples", () => {
    const { sample } = createTestMonitor();
    sample(reading([listener()]), 1_000);
    expect(sample(reading([listener()], { passiveOpens: 101 }), 1_150)).toMatchObject({
      lastEvidenceMs: 1_150,
      evidenceSource: "passive-opens",
      activity: "quiet",
    });
  });

  test.for([
    { title: "the manager accepted the connections", dials: 0, accepts: 3, overrides: { passiveOpens: 103 } },
    {
      title: "the manager opened the connections",
      dials: 2,
      accepts: 0,
      overrides: { passiveOpens: 102, activeOpens: 52 },
    },
    {
      title: "the connections are between containers",
      dials: 0,
      accepts: 0,
      overrides: { passiveOpens: 104, activeOpens: 54 },
    },
    {
      title: "the Pod opened more connections than it accepted",
      dials: 0,
      accepts: 0,
      overrides: { passiveOpens: 101, activeOpens: 53 },
    },
    { title: "it cannot be read", dials: 0, accepts: 0, overrides: { passiveOpens: -1 } },
    { title: "it decreased", dials: 0, accepts: 0, overrides: { passiveOpens: 3, activeOpens: 1 } },
  ])("is not evidence if $title", ({ dials, accepts, overrides }) => {
    const { sample } = createTestMonitor();
    sample(reading([listener()]), 1_000);
    expect(sample(reading([listener()], overrides), 1_150, dials, accepts).lastEvidenceMs).toBe(-1);
  });

  test("is evidence of connections beyond the manager's own", () => {
    const { sample } = createTestMonitor();
    sample(reading([listener()]), 1_000);
    expect(sample(reading([listener()], { passiveOpens: 104, activeOpens: 51 }), 1_150, 1, 2).lastEvidenceMs).toBe(
      1_150,
    );
  });

  test("excludes connections that wait in the backlog of the manager's port", () => {
    const { sample } = createTestMonitor();
    const managerListener = listener({ localPort: 17_890 });
    sample(reading([listener(), managerListener]), 1_000);
    expect(
      sample(reading([listener(), { ...managerListener, receiveQueue: 2 }], { passiveOpens: 102 }), 1_150)
        .lastEvidenceMs,
    ).toBe(-1);
    expect(sample(reading([listener(), managerListener], { passiveOpens: 102 }), 1_300, 0, 2).lastEvidenceMs).toBe(-1);
  });

  test("does not change the evidence of a connection that the sample contains", () => {
    const { sample } = createTestMonitor();
    sample(reading([listener()]), 1_000);
    const endedSocket = socket({ ...endedFields, lastAckReceivedMs: 120 });
    expect(sample(reading([listener(), endedSocket], { passiveOpens: 101 }), 1_150).lastEvidenceMs).toBe(1_030);
  });

  test("is ignored if the Pod also listens on a port that the drain does not observe", () => {
    const { sample } = createTestMonitor({ ignorePorts: [9_090] });
    const twoListeners = [listener(), listener({ localPort: 9_090 })];
    sample(reading(twoListeners), 1_000);
    expect(sample(reading(twoListeners, { passiveOpens: 105 }), 1_150).lastEvidenceMs).toBe(-1);
  });

  test("is ignored if the Pod shares its network namespace", () => {
    const { sample } = createTestMonitor({ addressScope: "127.0.1.5" });
    const listeners = [listener({ localAddress: "127.0.1.5" })];
    sample(reading(listeners), 1_000);
    expect(sample(reading(listeners, { passiveOpens: 105 }), 1_150).lastEvidenceMs).toBe(-1);
  });

  test("excludes the kubelet's probes up to their configured rate", () => {
    const { sample } = createTestMonitor({ kubeletProbes: [{ port: 8080, periodMs: 1_000 }] });
    let passiveOpens = 100;
    sample(reading([listener()], { passiveOpens }), 1_000);
    for (let nowMs = 2_000; nowMs <= 20_000; nowMs += 1_000) {
      passiveOpens += 1;
      expect(sample(reading([listener()], { passiveOpens }), nowMs).lastEvidenceMs).toBe(-1);
    }
    expect(sample(reading([listener()], { passiveOpens: passiveOpens + 3 }), 20_150).lastEvidenceMs).toBe(20_150);
  });
});

describe("the ports that a drain observes", () => {
  test.for([
    { title: "a port on the loopback address", overrides: { localAddress: "127.0.0.1" } },
    { title: "a port on the IPv6 loopback address", overrides: { family: 10, localAddress: "::1" } },
    { title: "the manager's port", overrides: { localPort: 17_890 } },
    { title: "Istio's inbound port", overrides: { localPort: 15_006 } },
    { title: "Istio's last port", overrides: { localPort: 15_090 } },
    { title: "Linkerd's inbound port", overrides: { localPort: 4_143 } },
    { title: "an ignored port", overrides: { localPort: 9_100 } },
  ])("exclude $title", ({ overrides }) => {
    const listeners = listener(overrides);
    const observation = createTestMonitor({ ignorePorts: [9_100] }).sample(
      reading([
        listeners,
        socket({ localPort: listeners.localPort, receiveQueue: 8 }),
        { ...listeners, receiveQueue: 4 },
      ]),
      1_000,
    );
    expect(observation).toMatchObject({ hasTcpListener: false, openConnections: 0, activity: "quiet" });
  });

  test("are only the ports in drain-ports if drain-ports is set, even on loopback", () => {
    const { sample } = createTestMonitor({ drainPorts: [9_000] });
    const observation = sample(
      reading([listener({ localPort: 9_000, localAddress: "127.0.0.1" }), listener({ receiveQueue: 4 })]),
      1_000,
    );
    expect(observation).toMatchObject({ hasTcpListener: true, activity: "quiet" });
    expect(sample(reading([listener({ receiveQueue: 4 })]), 2_000).hasTcpListener).toBe(false);
  });

  test("exclude the remote ports of connections that the Pod opened", () => {
    const outboundSocket = socket({ localPort: 45_000, peerPort: 5_432, receiveQueue: 7 });
    expect(createTestMonitor().sample(reading([listener(), outboundSocket]), 1_000)).toMatchObject({
      openConnections: 0,
      activity: "quiet",
    });
  });

  test("are limited to the address in address-scope, even a loopback address", () => {
    const { sample } = createTestMonitor({ addressScope: "127.0.1.5" });
    const ownAddress = { localAddress: "127.0.1.5" };
    const otherAddress = { localAddress: "127.0.1.6" };
    const observation = sample(
      reading([
        listener(ownAddress),
        listener(otherAddress),
        socket({ ...ownAddress, peerAddress: "127.0.0.1" }),
        socket({ ...otherAddress, receiveQueue: 9 }),
      ]),
      9_000,
    );
    expect(observation).toMatchObject({
      hasTcpListener: true,
      openConnections: 1,
      activity: "quiet",
      lastEvidenceMs: 4_000,
    });
    expect(sample(reading([listener(otherAddress), listener({ receiveQueue: 3 })]), 9_500)).toMatchObject({
      hasTcpListener: false,
      activity: "quiet",
    });
  });

  test("include the remote port of a TIME_WAIT entry whose client is in the same network namespace", () => {
    const { sample } = createTestMonitor({ addressScope: "127.0.1.5" });
    const listeners = [listener({ localAddress: "127.0.1.5" })];
    sample(reading(listeners), 1_000);
    const timeWaitSocket = socket({
      ...endedFields,
      localAddress: "127.0.0.1",
      localPort: 41_000,
      peerAddress: "127.0.1.5",
      peerPort: 8080,
      lastAckReceivedMs: 40,
    });
    expect(sample(reading([...listeners, timeWaitSocket]), 1_150).lastEvidenceMs).toBe(1_110);
  });

  test("include UDP ports, except the manager's port and ignored ports", () => {
    const { sample } = createTestMonitor({ ignorePorts: [53] });
    expect(sample(reading([], { udpPorts: [53, 17_890] }), 1).hasUdp).toBe(false);
    expect(sample(reading([], { udpPorts: [53, 5_000] }), 2).hasUdp).toBe(true);
  });
});

describe("peers of connections", () => {
  test("in the Pod itself are not evidence when they connect, but are busy during a request", () => {
    const { sample } = createTestMonitor();
    const ownAddresses = { localAddress: POD_ADDRESS, peerAddress: POD_ADDRESS };
    sample(reading([listener()]), 1_000);
    expect(
      sample(reading([listener(), socket({ ...ownAddresses, ...endedFields, lastAckReceivedMs: 5 })]), 1_150)
        .lastEvidenceMs,
    ).toBe(-1);
    expect(
      sample(reading([listener(), socket({ ...ownAddresses, peerPort: 6, receiveQueue: 3 })]), 1_300).activity,
    ).toBe("busy");
  });

  test("behind Istio's sidecar count as clients", () => {
    const { sample } = createTestMonitor();
    sample(reading([listener()]), 1_000);
    const forwardedSocket = socket({
      ...endedFields,
      localAddress: "127.0.0.1",
      peerAddress: "127.0.0.6",
      lastAckReceivedMs: 5,
    });
    expect(sample(reading([listener(), forwardedSocket]), 1_150).lastEvidenceMs).toBe(1_145);
  });

  const probe = (port: number) =>
    socket({ ...endedFields, peerAddress: NODE_ADDRESS, peerPort: port, lastAckReceivedMs: 5 });

  test("at the kubelet's address count as probes up to the configured rate", () => {
    const { monitor, sample } = createTestMonitor({ kubeletProbes: [{ port: 8080, periodMs: 10_000 }] });
    monitor.addKubelet(`::ffff:${NODE_ADDRESS}`);
    sample(reading([listener()]), 1_000);
    expect(sample(reading([listener(), probe(1), probe(2)]), 1_150).lastEvidenceMs).toBe(-1);
    expect(sample(reading([listener(), probe(1), probe(2), probe(3)]), 1_300).lastEvidenceMs).toBe(1_295);
  });

  test("at the kubelet's address are not evidence at the configured rate of probes, at any sample times", () => {
    const periodMs = 1_000;
    // A sample finds a probe up to 150 ms late, so two probes may appear closer than they were.
    const anyDelays = fc.array(fc.integer({ min: 0, max: 150 }), { minLength: 60, maxLength: 60 });
    const anyEarlierCount = fc.integer({ min: 0, max: 60 });
    fc.assert(
      fc.property(anyDelays, anyEarlierCount, fc.integer({ min: 150, max: 4_500 }), (late, ended, gapMs) => {
        const { monitor, sample } = createTestMonitor({ kubeletProbes: [{ port: 8080, periodMs }] });
        monitor.addKubelet(NODE_ADDRESS);
        const sockets = Array.from({ length: ended }, (_, index) => probe(40_000 + index));
        sample(reading([listener(), ...sockets]), 1_000);
        const foundAt = new Map<number, TextSocket[]>();
        for (const [index, delayMs] of late.entries()) {
          const atMs = Math.max(1_000 + gapMs, 1_100 + index * periodMs + delayMs);
          foundAt.set(atMs, [...(foundAt.get(atMs) ?? []), probe(1_000 + index)]);
        }
        for (const [atMs, found] of [...foundAt].sort(([a], [b]) => a - b)) {
          sockets.push(...found);
          expect(sample(reading([listener(), ...sockets]), atMs).lastEvidenceMs).toBe(-1);
        }
      }),
      { numRuns: 200 },
    );
  });

  test("at the kubelet's address are evidence at twice the configured rate of probes", () => {
    const { monitor, sample } = createTestMonitor({ kubeletProbes: [{ port: 8080, periodMs: 1_000 }] });
    monitor.addKubelet(NODE_ADDRESS);
    const sockets: TextSocket[] = [];
    sample(reading([listener()]), 1_000);
    let evidenceCount = 0;
    for (let index = 0; index < 20; index += 1) {
      sockets.push(probe(1_000 + index));
      const atMs = 1_500 + index * 500;
      if (sample(reading([listener(), ...sockets]), atMs).lastEvidenceMs === atMs - 5) evidenceCount += 1;
    }
    expect(evidenceCount).toBeGreaterThanOrEqual(7);
  });

  test("at the kubelet's address count as clients on a port without probes", () => {
    const { monitor, sample } = createTestMonitor({ kubeletProbes: [{ port: 9, periodMs: 10_000 }] });
    monitor.addKubelet(NODE_ADDRESS);
    sample(reading([listener()]), 1_000);
    expect(sample(reading([listener(), probe(1)]), 1_150).lastEvidenceMs).toBe(1_145);
  });

  test("at an address of the Pod never count as the kubelet", () => {
    const { monitor, sample } = createTestMonitor({ kubeletProbes: [{ port: 8080, periodMs: 10_000 }] });
    monitor.addKubelet(POD_ADDRESS);
    expect(sample(reading([listener(), socket({ peerAddress: POD_ADDRESS, receiveQueue: 3 })]), 1_000).activity).toBe(
      "busy",
    );
  });

  test("at the kubelet's address are busy until the app has responded, but do not count as traffic of clients", () => {
    const { monitor, sample } = createTestMonitor({ kubeletProbes: [{ port: 8080, periodMs: 10_000 }] });
    monitor.addKubelet(NODE_ADDRESS);
    const waitingSocket = socket({
      peerAddress: NODE_ADDRESS,
      lastDataReceivedMs: 90,
      lastDataSentMs: 100,
      peerPort: 9,
    });
    const answeredSocket = socket({
      peerAddress: NODE_ADDRESS,
      lastDataReceivedMs: 290,
      lastDataSentMs: 10,
      peerPort: 9,
    });
    expect(sample(reading([listener(), waitingSocket]), 1_000)).toMatchObject({ activity: "busy", lastEvidenceMs: -1 });
    expect(sample(reading([listener(), answeredSocket]), 1_200)).toMatchObject({
      activity: "quiet",
      lastEvidenceMs: -1,
    });
  });

  test("at the kubelet's address count as clients if their connection lasts longer than every probe", () => {
    const { monitor, sample } = createTestMonitor({ kubeletProbes: [{ port: 8080, periodMs: 10_000 }] });
    monitor.addKubelet(NODE_ADDRESS);
    const openSocket = socket({ peerAddress: NODE_ADDRESS, receiveQueue: 3 });
    expect(sample(reading([listener(), openSocket]), 1_000)).toMatchObject({ openConnections: 0, lastEvidenceMs: -1 });
    expect(sample(reading([listener(), openSocket]), 11_001)).toMatchObject({ activity: "busy", openConnections: 1 });
  });
});

describe("for arbitrary sockets", () => {
  const anySocket = fc.record({
    family: fc.constantFrom(2, 10),
    state: fc.integer({ min: 0, max: 13 }),
    localAddress: fc.constantFrom(POD_ADDRESS, "127.0.0.1", "0.0.0.0", "::"),
    localPort: fc.constantFrom(8080, 17_890, 15_006, 40_000),
    peerAddress: fc.constantFrom(CLIENT_ADDRESS, POD_ADDRESS, NODE_ADDRESS, "127.0.0.1", "127.0.0.6"),
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

  test("the time of the evidence is never in the future and never decreases", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.array(anySocket, { maxLength: 12 }), fc.nat(2_000), fc.nat(5)), { maxLength: 12 }),
        (samples) => {
          const { monitor, sample } = createTestMonitor({ kubeletProbes: [{ port: 8080, periodMs: 500 }] });
          monitor.addKubelet(NODE_ADDRESS);
          let nowMs = 0;
          let lastEvidenceMs = -1;
          let passiveOpens = 0;
          for (const [sockets, laterMs, opens] of samples) {
            nowMs += laterMs;
            passiveOpens += opens;
            const observation = sample(reading([listener(), ...sockets], { passiveOpens }), nowMs);
            expect(observation.lastEvidenceMs).toBeLessThanOrEqual(nowMs);
            expect(observation.lastEvidenceMs).toBeGreaterThanOrEqual(lastEvidenceMs);
            expect(observation.left.length).toBe(Math.min(20, observation.leftTotal));
            lastEvidenceMs = observation.lastEvidenceMs;
          }
        },
      ),
    );
  });
});
