import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createTableReader } from "../../src/manager/sockets/proc-tables.ts";
import { parseOpens } from "../../src/manager/sockets/sockets.ts";
import { tableOf } from "./socket-lists.ts";

const HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";
const LISTENER =
  "   0: 00000000:1F90 00000000:0000 0A 00000000:00000003 00:00000000 00000000     0        0 554 1 0000000034113527 100 0 0 10 0\n";
const OPEN =
  "  17: 0700010A:1F90 0900020A:C350 01 00000010:00000005 02:000A7214 00000000 65532        0 991 2 0000000000000000 20 4 30 10 -1\n";
const SIX =
  "   3: 0000000000000000FFFF00000100007F:1F90 B80D0120000000000000000000000001:C350 06 00000000:00000000 03:00001770 00000000     0        0 0 3 0000000000000000\n";

describe("a table of sockets", () => {
  test("gives every line as a socket without ages", () => {
    expect(tableOf(HEAD + LISTENER + OPEN, 2)).toEqual([
      {
        ...BLIND,
        family: 2,
        state: 10,
        localAddress: "0.0.0.0",
        localPort: 8080,
        peerAddress: "0.0.0.0",
        peerPort: 0,
        uid: 0,
        receiveQueue: 3,
        sendQueue: 0,
      },
      {
        ...BLIND,
        family: 2,
        state: 1,
        localAddress: "10.1.0.7",
        localPort: 8080,
        peerAddress: "10.2.0.9",
        peerPort: 50_000,
        uid: 65_532,
        receiveQueue: 5,
        sendQueue: 16,
      },
    ]);
  });

  test("writes mapped IPv6 addresses as IPv4 and others shortest", () => {
    expect(tableOf(HEAD + SIX, 10)?.[0]).toMatchObject({
      state: 6,
      localAddress: "127.0.0.1",
      peerAddress: "2001:db8::100:0",
    });
  });

  test("is empty only when it has its header and no lines", () => {
    expect(tableOf(HEAD, 2)).toEqual([]);
    expect(tableOf(` ${HEAD}`, 2)).toEqual([]);
  });

  test.for([
    { says: "nothing", text: "" },
    { says: "a header without its end", text: HEAD.trimEnd() },
    { says: "lines without a header", text: OPEN },
    { says: "a last line that was cut", text: HEAD + LISTENER + OPEN.slice(0, 60) },
    { says: "a last line without its end", text: HEAD + OPEN.trimEnd() },
    { says: "a line that is no socket", text: `${HEAD}hello\n` },
    { says: "a digit that is none", text: HEAD + OPEN.replace("C350", "C35G") },
    { says: "IPv6 lines read as IPv4", text: HEAD + SIX },
    { says: "an empty line", text: `${HEAD}\n${OPEN}` },
  ])("is unknown on $says", ({ text }) => {
    expect(tableOf(text, 2)).toBeUndefined();
  });

  test("cut anywhere within its lines is unknown, never shorter", () => {
    const text = HEAD + LISTENER + OPEN;
    const whole = [HEAD.length, HEAD.length + LISTENER.length, text.length];
    fc.assert(
      fc.property(fc.nat(text.length), (cut) => {
        const read = tableOf(text.slice(0, cut), 2);
        return whole.includes(cut) ? read !== undefined : read === undefined;
      }),
    );
  });

  test("is the same wherever it is cut into pieces", () => {
    const lines = fc.array(fc.constantFrom(LISTENER, OPEN, OPEN.slice(3), "hello\n"), { maxLength: 6 });
    fc.assert(
      fc.property(lines, fc.array(fc.nat(900), { maxLength: 8 }), (chosen, cuts) => {
        const text = HEAD + chosen.join("");
        const ordered = cuts.filter((cut) => cut < text.length).sort((a, b) => a - b);
        expect(tableOf(text, 2, ordered)).toEqual(tableOf(text, 2));
      }),
    );
  });

  test("is read no further than it is wanted, however long it is", () => {
    let taken = 0;
    const reader = createTableReader(2, () => {
      taken += 1;
      return taken < 2;
    });
    expect(reader.take(HEAD + LISTENER)).toBe(true);
    expect(reader.take(OPEN + OPEN)).toBe(false);
    expect([taken, reader.end()]).toEqual([2, true]);
  });

  test("is not held in memory where it has no lines", () => {
    const reader = createTableReader(2, () => true);
    const noise = "x".repeat(4_096);
    expect(reader.take(HEAD)).toBe(true);
    expect([reader.take(noise), reader.end()]).toEqual([false, false]);
  });

  test("never throws on text it was not made for", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 300 }), fc.constantFrom(2, 10), (text, family) => {
        const read = tableOf(HEAD + text, family);
        return read === undefined || read.every((s) => s.localPort >= 0 && s.localPort < 65_536);
      }),
    );
  });
});

const BLIND = {
  lastDataSentMs: -1,
  lastDataReceivedMs: -1,
  lastAckReceivedMs: -1,
  bytesReceived: -1,
  dataSegmentsReceived: -1,
  dataSegmentsSent: -1,
  pureAcksSent: -1,
};

describe("the counters", () => {
  const NAMES = "Tcp: RtoAlgorithm RtoMin RtoMax MaxConn ActiveOpens PassiveOpens AttemptFails\n";
  const VALUES = "Tcp: 1 200 120000 -1 71 3 2\n";

  test("are found by their names", () => {
    expect(parseOpens(`Ip: Forwarding\nIp: 1\n${NAMES}${VALUES}Udp: InDatagrams\nUdp: 4\n`)).toEqual({
      passive: 3,
      active: 71,
    });
    expect(parseOpens(NAMES + VALUES)).toEqual({ passive: 3, active: 71 });
  });

  test.for([
    { says: "nothing", text: "" },
    { says: "names only", text: NAMES },
    { says: "values that were cut", text: NAMES + VALUES.slice(0, 20) },
    { says: "fewer values than names", text: `${NAMES}Tcp: 1 200 120000\n` },
    { says: "other names", text: `Tcp: A B\nTcp: 1 2\n` },
    { says: "a value that is no number", text: NAMES + VALUES.replace("71 3", "x y") },
  ])("are unknown on $says", ({ text }) => {
    expect(parseOpens(text)).toEqual({ passive: -1, active: -1 });
  });
});
