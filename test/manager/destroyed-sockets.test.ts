/** Tests the queue of destroyed sockets with the kernel of this machine, and with recorded results of recv. */
import { describe, expect, test } from "vitest";
import type { Libc } from "../../src/manager/ports.ts";
import { createDestroyedSockets } from "../../src/manager/sockets/destroyed-sockets.ts";
import { canIsolate, runInOwnNetwork } from "./own-network.ts";

test.skipIf(!canIsolate)(
  "the kernel's queue contains the connections and listeners that were destroyed since the start of the queue",
  () => {
    // The kernel also counts retransmitted segments, which occur on a busy machine.
    const isPositive = expect.toSatisfy((count) => Number(count) >= 1);
    const answeredConnection = { isListener: false, dataSegmentsReceived: isPositive, dataSegmentsSent: isPositive };
    const lines = runInOwnNetwork("destroyed-sockets-pod.ts", []);
    expect(lines).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ ...answeredConnection, family: 2 }),
        expect.objectContaining({ ...answeredConnection, family: 10 }),
        expect.objectContaining({ isListener: true, family: 2, dataSegmentsReceived: 0 }),
        expect.objectContaining({ isListener: true, family: 10, dataSegmentsReceived: 0 }),
        { isComplete: true },
      ]),
    );
  },
);

const EMPTY = -1;

/** @param results return values of recv, in order; a positive value is the length of a message without a socket */
function createLibc(results: readonly number[], overrides: Partial<Libc> = {}) {
  const remainingResults = [...results];
  const closedFds: number[] = [];
  const libc: Libc = {
    available: true,
    socket: () => 7,
    connect: () => 0,
    setsockopt: () => 0,
    send: () => EMPTY,
    recv: (_fd, bytes) => {
      const length = remainingResults.shift() ?? EMPTY;
      Buffer.from(bytes.buffer, bytes.byteOffset).writeUInt32LE(16, 0);
      Buffer.from(bytes.buffer, bytes.byteOffset).writeUInt16LE(1, 4);
      return length;
    },
    close: (fd) => closedFds.push(fd),
    ...overrides,
  };
  return { libc, closedFds };
}

describe("the queue of destroyed sockets", () => {
  test.for([
    { title: "is complete if it is empty", results: [EMPTY, EMPTY], isComplete: true },
    { title: "is complete after all its messages were read", results: [16, 16, EMPTY, EMPTY], isComplete: true },
    {
      title: "is incomplete if the first read fails and messages follow",
      results: [EMPTY, 16, EMPTY],
      isComplete: false,
    },
    {
      title: "is incomplete if it never becomes empty",
      results: Array.from({ length: 30_000 }, () => 16),
      isComplete: false,
    },
    { title: "is incomplete if a message is truncated", results: [16, 9_000, EMPTY], isComplete: false },
  ])("$title", ({ results, isComplete }) => {
    const { libc, closedFds } = createLibc(results);
    const queue = createDestroyedSockets(libc);
    expect(queue.readAll(() => undefined)).toBe(false);
    queue.start();
    expect(queue.readAll(() => undefined)).toBe(isComplete);
    expect(closedFds).toEqual([]);
    queue.start();
    expect(closedFds).toEqual([7]);
  });

  test.for([
    { title: "libc is not available", changes: { available: false }, descriptors: [] },
    { title: "no socket can be opened", changes: { socket: () => -1 }, descriptors: [] },
    { title: "the kernel does not assign an address", changes: { connect: () => -1 }, descriptors: [7] },
    {
      title: "the kernel does not have a group for destroyed sockets",
      changes: { setsockopt: () => -1 },
      descriptors: [7],
    },
  ])("is incomplete, and does not leak a descriptor, if $title", ({ changes, descriptors }) => {
    const { libc, closedFds } = createLibc([], changes);
    const queue = createDestroyedSockets(libc);
    queue.start();
    expect(closedFds).toEqual(descriptors);
    expect(queue.readAll(() => undefined)).toBe(false);
  });
});
