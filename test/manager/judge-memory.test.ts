import fc from "fast-check";
import { expect, test } from "vitest";
import * as tcp from "../../src/manager/sockets/tcp-states.ts";
import type { TcpSocket } from "../../src/manager/traffic/observation.ts";
import { judging, listener, reading, socket } from "./judge-room.ts";

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

function socketOf(of: {
  port: number;
  state: number;
  received: number;
  sent: number;
  receivedMs: number;
  sentMs: number;
}): TcpSocket {
  return socket({
    peerPort: of.port,
    state: of.state,
    dataSegmentsReceived: of.received,
    dataSegmentsSent: of.sent,
    lastDataReceivedMs: of.receivedMs,
    lastDataSentMs: of.sentMs,
  });
}
