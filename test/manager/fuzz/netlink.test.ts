import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DONE, message, playback, socketMessage, tcpInfo } from "../netlink-room.ts";
import { dumpSockets, parsePart as read, type TextSocket } from "../socket-lists.ts";
import { mutate, splice } from "./mutations.ts";
import { SAMPLES } from "./samples.ts";
import { createRandom } from "./seeded-random.ts";

const anySeed = fc.integer({ min: 0, max: 0xffffffff });
const RUN_OPTIONS = { numRuns: 3_000 };
const PARTS = SAMPLES.filter((sample) => sample.parser === "netlink").map(({ bytes }) => bytes);

function createDamagedPart(seed: number): Buffer {
  const random = createRandom(seed);
  const base = random.chance(0.2) ? splice(random.pick(PARTS), random.pick(PARTS), random) : random.pick(PARTS);
  return mutate(base, random);
}

/** A counter is -1 if it is unknown, otherwise an unsigned 32-bit number. */
const isCounter = (value: number) => Number.isInteger(value) && value >= -1 && value <= 0xffffffff;

function isValidSocket(socket: TextSocket): boolean {
  const counters = [
    socket.lastDataSentMs,
    socket.lastDataReceivedMs,
    socket.lastAckReceivedMs,
    socket.dataSegmentsReceived,
    socket.dataSegmentsSent,
    socket.pureAcksSent,
    socket.receiveQueue,
    socket.sendQueue,
  ];
  return counters.every(isCounter) && socket.bytesReceived >= -1 && /^[0-9a-f.:]+$/.test(socket.peerAddress);
}

describe("a damaged part of a netlink dump", () => {
  test("is read to its end and results in valid fields", () => {
    fc.assert(
      fc.property(anySeed, (from) => {
        const { end, sockets } = read(createDamagedPart(from));
        expect(["more", "done", "inconsistent", "refused", "garbled"]).toContain(end);
        expect(sockets.every(isValidSocket)).toBe(true);
      }),
      RUN_OPTIONS,
    );
  });

  test("is never complete if it is truncated within a message", () => {
    const part = Buffer.concat([socketMessage({ info: tcpInfo(1, 2, 3, 4) }), socketMessage(), DONE]);
    for (let cut = 0; cut < part.length; cut += 1) expect(read(part.subarray(0, cut)).end).not.toBe("done");
  });

  test("is reported as garbled if its stated length exceeds its buffer", () => {
    fc.assert(
      fc.property(anySeed, fc.integer({ min: 1, max: 70_000 }), (from, more) => {
        const bytes = createDamagedPart(from);
        expect(read(bytes, bytes.length + more).end).toBe("garbled");
      }),
    );
  });

  test("does not depend on bytes of the buffer after its end", () => {
    fc.assert(
      fc.property(anySeed, fc.uint8Array({ maxLength: 300 }), (from, old) => {
        const bytes = createDamagedPart(from);
        expect(read(Buffer.concat([bytes, Buffer.from(old)]), bytes.length)).toEqual(read(bytes));
      }),
      { numRuns: 1_000 },
    );
  });
});

describe("a netlink dump", () => {
  const dumpParts = (parts: readonly Buffer[]) => {
    const replay = playback({ 2: parts });
    return { dump: dumpSockets(replay.libc), open: replay.open() };
  };

  test("with a damaged part is complete only with its end message, and does not leave a descriptor open", () => {
    fc.assert(
      fc.property(fc.array(anySeed, { minLength: 1, maxLength: 4 }), (seeds) => {
        const replay = dumpParts(seeds.map(createDamagedPart));
        expect(replay.open).toBe(0);
        expect(replay.dump.sockets.every(isValidSocket)).toBe(true);
      }),
      RUN_OPTIONS,
    );
  });

  test("is never complete without its end message", () => {
    const part = fc.constantFrom(...PARTS.filter((bytes) => read(bytes).end === "more"));
    fc.assert(
      fc.property(fc.array(part, { maxLength: 5 }), (parts) => {
        expect(dumpParts(parts).dump.end).not.toBe("whole");
      }),
    );
  });

  test("has the same result for any distribution of messages over parts", () => {
    const messages = Array.from({ length: 12 }, (_, n) => socketMessage({ peerPort: n, info: tcpInfo(n, n, n, n) }));
    const wholeDump = dumpParts([Buffer.concat([...messages, DONE])]).dump;
    fc.assert(
      fc.property(fc.subarray([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]), (cuts) => {
        const edges = [0, ...cuts, 12];
        const parts = cuts.map((_, n) => Buffer.concat(messages.slice(edges[n], edges[n + 1])));
        const lastPart = Buffer.concat([...messages.slice(edges[cuts.length]), DONE]);
        expect(dumpParts([...parts, lastPart]).dump).toEqual(wholeDump);
      }),
    );
  });

  test("has the same result if unknown attributes surround the known attribute", () => {
    const anyAttribute = fc.record({ type: fc.integer({ min: 3, max: 0xffff }), size: fc.nat(40) });
    fc.assert(
      fc.property(
        fc.array(anyAttribute, { maxLength: 4 }),
        fc.array(anyAttribute, { maxLength: 4 }),
        (before, after) => {
          const messageWithInfo = socketMessage({ info: tcpInfo(1, 2, 3, 4) });
          const messageWithoutInfo = socketMessage();
          const infoAttribute = messageWithInfo.subarray(messageWithoutInfo.length);
          const body = Buffer.concat([
            messageWithoutInfo.subarray(16),
            ...before.map(attributeBytes),
            infoAttribute,
            ...after.map(attributeBytes),
          ]);
          expect(read(message(20, body)).sockets).toEqual(read(messageWithInfo).sockets);
          expect(read(message(20, body)).sockets[0]).toMatchObject({ lastDataSentMs: 1, lastDataReceivedMs: 2 });
        },
      ),
    );
  });

  test("is inconsistent if it is interrupted at any message", () => {
    fc.assert(
      fc.property(fc.nat(11), (at) => {
        const messages = Array.from({ length: 12 }, (_, n) => socketMessage({}, n === at ? 0x12 : 2));
        expect(dumpParts([Buffer.concat([...messages, DONE])]).dump.end).toBe("inconsistent");
      }),
    );
  });

  function attributeBytes(attribute: { readonly type: number; readonly size: number }): Buffer {
    const bytes = Buffer.alloc(4 + Math.ceil(attribute.size / 4) * 4, 0xaa);
    bytes.writeUInt16LE(4 + attribute.size, 0);
    bytes.writeUInt16LE(attribute.type, 2);
    return bytes;
  }
});
