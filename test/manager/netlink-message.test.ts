import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DONE, message, playback, REFUSED, socketMessage, tcpInfo } from "./netlink-room.ts";
import { dumpSockets, parsePart as read } from "./socket-lists.ts";

describe("one part of a netlink dump", () => {
  test("is parsed into a socket with its counters and the times since its last data", () => {
    const { end, sockets } = read(
      socketMessage({ receiveQueue: 3, sendQueue: 4, uid: 65_532, info: tcpInfo(11, 22, 33, 5_000_000_000) }),
    );
    expect(end).toBe("more");
    expect(sockets).toEqual([
      {
        family: 2,
        state: 1,
        localAddress: "10.1.0.7",
        localPort: 8080,
        peerAddress: "10.2.0.9",
        peerPort: 50_000,
        uid: 65_532,
        receiveQueue: 3,
        sendQueue: 4,
        lastDataSentMs: 11,
        lastDataReceivedMs: 22,
        lastAckReceivedMs: 33,
        bytesReceived: 5_000_000_000,
        dataSegmentsReceived: 6,
        dataSegmentsSent: 8,
        pureAcksSent: 3,
      },
    ]);
  });

  test("results in the IPv4 form of mapped IPv6 addresses, and in the shortest form of other IPv6 addresses", () => {
    const mapped = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 10, 0, 0, 1];
    const plain = [0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xab, 0xc];
    const { sockets } = read(socketMessage({ family: 10, local: mapped, peer: plain }));
    expect(sockets[0]).toMatchObject({ localAddress: "10.0.0.1", peerAddress: "2001:db8::ab0c" });
  });

  test("is parsed into a socket without data times if tcp_info is missing", () => {
    expect(read(socketMessage()).sockets[0]).toMatchObject({
      lastDataSentMs: -1,
      lastDataReceivedMs: -1,
      lastAckReceivedMs: -1,
      bytesReceived: -1,
    });
  });

  test("is parsed into a socket with data times but without counters if the tcp_info of an old kernel ends before the counters", () => {
    expect(read(socketMessage({ info: tcpInfo(1, 2, 3, 9, 104) })).sockets[0]).toMatchObject({
      lastDataSentMs: 1,
      bytesReceived: -1,
    });
  });

  test("is parsed into a socket without data times if tcp_info is too short", () => {
    expect(read(socketMessage({ info: tcpInfo(1, 2, 3, 9, 56) })).sockets[0]).toMatchObject({
      lastDataSentMs: -1,
      lastAckReceivedMs: -1,
    });
  });

  test("has the time since the end of a connection, computed from the remaining time of TIME_WAIT", () => {
    expect(read(socketMessage({ state: 6, timer: 3, expiresMs: 59_700 })).sockets[0]?.lastAckReceivedMs).toBe(300);
    expect(read(socketMessage({ state: 6, timer: 3, expiresMs: 4_294_967_295 })).sockets[0]?.lastAckReceivedMs).toBe(
      -1,
    );
  });

  test("omits only connections that ended longer ago than the limit", () => {
    const bytes = Buffer.concat([
      socketMessage({ state: 6, timer: 3, expiresMs: 59_700, peerPort: 1 }),
      socketMessage({ state: 6, timer: 3, expiresMs: 59_699, peerPort: 2 }),
      socketMessage({ state: 6, timer: 3, expiresMs: 4_294_967_295, peerPort: 3 }),
      socketMessage({ state: 1, info: tcpInfo(9_000, 9_000, 9_000, 4), peerPort: 4 }),
    ]);
    expect(read(bytes, bytes.length, 300).sockets.map((socket) => socket.peerPort)).toEqual([1, 3, 4]);
  });

  test.for([
    { title: "an empty part", end: "garbled", bytes: Buffer.alloc(0) },
    { title: "an incomplete header", end: "garbled", bytes: DONE.subarray(0, 9) },
    { title: "a length below the header's length", end: "garbled", bytes: Buffer.alloc(16) },
    { title: "a length beyond the part", end: "garbled", bytes: socketMessage().subarray(0, 60) },
    { title: "a response to another request", end: "garbled", bytes: message(3, Buffer.alloc(4), 2, 7) },
    { title: "a message too short for a socket", end: "garbled", bytes: message(20, Buffer.alloc(71)) },
    { title: "an unknown address family", end: "garbled", bytes: socketMessage({ family: 5 }) },
    { title: "an unknown message type", end: "garbled", bytes: message(99, Buffer.alloc(80)) },
    { title: "an interrupted dump", end: "inconsistent", bytes: socketMessage({}, 0x12) },
    {
      title: "an end message with the interruption flag",
      end: "inconsistent",
      bytes: message(3, Buffer.alloc(4), 0x12),
    },
    { title: "an error of the kernel", end: "refused", bytes: REFUSED },
    { title: "the end message", end: "done", bytes: DONE },
  ])("ends as `$end` on $title", ({ end, bytes }) => {
    expect(read(bytes).end).toBe(end);
  });

  test("ends as `garbled` if it exceeds the buffer", () => {
    expect(read(DONE, DONE.length + 4).end).toBe("garbled");
  });

  test("is read even if an attribute has a wrong length", () => {
    for (const size of [0, 3, 5, 200, 65_535]) {
      const bytes = socketMessage({ info: tcpInfo(1, 2, 3, 4) });
      bytes.writeUInt16LE(size, 88);
      expect(read(bytes).sockets[0]?.lastDataSentMs).toBe(size === 5 ? 1 : -1);
    }
  });

  test("is parsed into a socket without data times if an attribute is longer than its message", () => {
    const bytes = Buffer.concat([socketMessage({ info: tcpInfo(1, 2, 3, 4, 60) }), Buffer.alloc(300)]);
    expect(read(bytes, bytes.length - 300).sockets[0]?.lastDataSentMs).toBe(1);
    bytes.writeUInt16LE(252, 96);
    expect(read(bytes, bytes.length - 300).sockets[0]?.lastDataSentMs).toBe(-1);
  });

  test("is read within its bounds and without exceptions, for arbitrary bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), fc.nat(500), (bytes, length) => {
        expect(["more", "done", "inconsistent", "refused", "garbled"]).toContain(read(Buffer.from(bytes), length).end);
      }),
    );
  });

  test("is read without exceptions if bytes of a message are flipped", () => {
    const completePart = Buffer.concat([
      socketMessage({ info: tcpInfo(1, 2, 3, 4) }),
      socketMessage({ family: 10 }),
      DONE,
    ]);
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(completePart.length - 1), fc.nat(255)), { maxLength: 8 }),
        fc.nat(completePart.length),
        (flips, cut) => {
          const bytes = Buffer.from(completePart.subarray(0, cut));
          for (const [at, value] of flips) if (at < bytes.length) bytes.writeUInt8(value, at);
          const { end, sockets } = read(bytes);
          if (end === "more" || end === "done") for (const s of sockets) expect(s.localPort).toBeLessThan(65_536);
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe("a netlink dump", () => {
  test("contains the sockets of all its parts", () => {
    const { libc, open } = playback({
      2: [Buffer.concat([socketMessage(), socketMessage({ localPort: 81 })]), socketMessage({ localPort: 82 }), DONE],
    });
    const { end, sockets } = dumpSockets(libc);
    expect(end).toBe("whole");
    expect(sockets.map((s) => s.localPort)).toEqual([8080, 81, 82]);
    expect(open()).toBe(0);
  });

  test.for([
    { title: "missing if its end message does not arrive", kind: "missing", parts: [socketMessage()] },
    { title: "missing if the kernel refuses the request", kind: "missing", parts: [REFUSED] },
    { title: "missing if no part arrives", kind: "missing", parts: [] },
    {
      title: "inconsistent if the kernel interrupts the dump",
      kind: "inconsistent",
      parts: [socketMessage({}, 0x12), DONE],
    },
    {
      title: "inconsistent if a part is truncated",
      kind: "inconsistent",
      parts: [socketMessage(), socketMessage().subarray(0, 80), DONE],
    },
    {
      title: "inconsistent if a part is larger than the buffer",
      kind: "inconsistent",
      parts: [Buffer.concat(Array.from({ length: 500 }, () => socketMessage())), DONE],
    },
  ])("is $title", ({ kind, parts }) => {
    const { libc, open } = playback({ 2: parts });
    expect(dumpSockets(libc).end).toBe(kind);
    expect(open()).toBe(0);
  });
});
