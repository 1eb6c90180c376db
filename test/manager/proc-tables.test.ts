import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseLosses, parseOpens } from "../../src/manager/sockets/kernel-counters.ts";
import { createTableReader } from "../../src/manager/sockets/proc-tables.ts";
import { parseTable } from "./socket-lists.ts";

const TABLE_HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";
const LISTENER_LINE =
  "   0: 00000000:1F90 00000000:0000 0A 00000000:00000003 00:00000000 00000000     0        0 554 1 0000000034113527 100 0 0 10 0\n";
const OPEN_CONNECTION_LINE =
  "  17: 0700010A:1F90 0900020A:C350 01 00000010:00000005 02:000A7214 00000000 65532        0 991 2 0000000000000000 20 4 30 10 -1\n";
const IPV6_LINE =
  "   3: 0000000000000000FFFF00000100007F:1F90 B80D0120000000000000000000000001:C350 06 00000000:00000000 03:00001770 00000000     0        0 0 3 0000000000000000\n";

describe("a socket table of /proc/net", () => {
  test("results in one socket without tcp_info for each line", () => {
    expect(parseTable(TABLE_HEAD + LISTENER_LINE + OPEN_CONNECTION_LINE, 2)).toEqual([
      {
        ...NO_TCP_INFO,
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
        ...NO_TCP_INFO,
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

  test("results in the IPv4 form of mapped IPv6 addresses, and in the shortest form of other IPv6 addresses", () => {
    expect(parseTable(TABLE_HEAD + IPV6_LINE, 10)?.[0]).toMatchObject({
      state: 6,
      localAddress: "127.0.0.1",
      peerAddress: "2001:db8::100:0",
    });
  });

  test("is empty if it contains only a header", () => {
    expect(parseTable(TABLE_HEAD, 2)).toEqual([]);
    expect(parseTable(` ${TABLE_HEAD}`, 2)).toEqual([]);
  });

  test.for([
    { title: "an empty text", text: "" },
    { title: "a header without a line break", text: TABLE_HEAD.trimEnd() },
    { title: "lines without a header", text: OPEN_CONNECTION_LINE },
    { title: "a truncated last line", text: TABLE_HEAD + LISTENER_LINE + OPEN_CONNECTION_LINE.slice(0, 60) },
    { title: "a last line without a line break", text: TABLE_HEAD + OPEN_CONNECTION_LINE.trimEnd() },
    { title: "a line that is not a socket", text: `${TABLE_HEAD}hello\n` },
    { title: "an invalid digit", text: TABLE_HEAD + OPEN_CONNECTION_LINE.replace("C350", "C35G") },
    { title: "IPv6 lines read as IPv4", text: TABLE_HEAD + IPV6_LINE },
    { title: "an empty line", text: `${TABLE_HEAD}\n${OPEN_CONNECTION_LINE}` },
  ])("is invalid if it contains $title", ({ text }) => {
    expect(parseTable(text, 2)).toBeUndefined();
  });

  test("is invalid if it is truncated within a line", () => {
    const text = TABLE_HEAD + LISTENER_LINE + OPEN_CONNECTION_LINE;
    const completeLengths = [TABLE_HEAD.length, TABLE_HEAD.length + LISTENER_LINE.length, text.length];
    fc.assert(
      fc.property(fc.nat(text.length), (cut) => {
        const sockets = parseTable(text.slice(0, cut), 2);
        return completeLengths.includes(cut) ? sockets !== undefined : sockets === undefined;
      }),
    );
  });

  test("has the same sockets for any division into chunks", () => {
    const anyLines = fc.array(
      fc.constantFrom(LISTENER_LINE, OPEN_CONNECTION_LINE, OPEN_CONNECTION_LINE.slice(3), "hello\n"),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(anyLines, fc.array(fc.nat(900), { maxLength: 8 }), (chosen, cuts) => {
        const text = TABLE_HEAD + chosen.join("");
        const orderedCuts = cuts.filter((cut) => cut < text.length).sort((a, b) => a - b);
        expect(parseTable(text, 2, orderedCuts)).toEqual(parseTable(text, 2));
      }),
    );
  });

  test("is not read further after the consumer of its sockets stopped the read", () => {
    let socketCount = 0;
    const reader = createTableReader(2, () => {
      socketCount += 1;
      return socketCount < 2;
    });
    expect(reader.addPiece(TABLE_HEAD + LISTENER_LINE)).toBe(true);
    expect(reader.addPiece(OPEN_CONNECTION_LINE + OPEN_CONNECTION_LINE)).toBe(false);
    expect([socketCount, reader.end()]).toEqual([2, true]);
  });

  test("is invalid, and not buffered, if it does not contain line breaks", () => {
    const reader = createTableReader(2, () => true);
    const noise = "x".repeat(4_096);
    expect(reader.addPiece(TABLE_HEAD)).toBe(true);
    expect([reader.addPiece(noise), reader.end()]).toEqual([false, false]);
  });

  test("is read without exceptions from arbitrary text", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 300 }), fc.constantFrom(2, 10), (text, family) => {
        const read = parseTable(TABLE_HEAD + text, family);
        return read === undefined || read.every((s) => s.localPort >= 0 && s.localPort < 65_536);
      }),
    );
  });
});

const NO_TCP_INFO = {
  lastDataSentMs: -1,
  lastDataReceivedMs: -1,
  lastAckReceivedMs: -1,
  bytesReceived: -1,
  dataSegmentsReceived: -1,
  dataSegmentsSent: -1,
  pureAcksSent: -1,
};

describe("the kernel's counters of opened connections", () => {
  const NAMES = "Tcp: RtoAlgorithm RtoMin RtoMax MaxConn ActiveOpens PassiveOpens AttemptFails\n";
  const VALUES = "Tcp: 1 200 120000 -1 71 3 2\n";

  test("are read from the columns with their names", () => {
    expect(parseOpens(`Ip: Forwarding\nIp: 1\n${NAMES}${VALUES}Udp: InDatagrams\nUdp: 4\n`)).toEqual({
      passive: 3,
      active: 71,
    });
    expect(parseOpens(NAMES + VALUES)).toEqual({ passive: 3, active: 71 });
  });

  test.for([
    { title: "an empty text", text: "" },
    { title: "names only", text: NAMES },
    { title: "truncated values", text: NAMES + VALUES.slice(0, 20) },
    { title: "fewer values than names", text: `${NAMES}Tcp: 1 200 120000\n` },
    { title: "other names", text: `Tcp: A B\nTcp: 1 2\n` },
    { title: "a value that is not a number", text: NAMES + VALUES.replace("71 3", "x y") },
  ])("are unknown if the file contains $title", ({ text }) => {
    expect(parseOpens(text)).toEqual({ passive: -1, active: -1 });
  });
});

describe("the kernel's counters of lost connections", () => {
  const SNMP = "Tcp: RtoAlgorithm OutSegs RetransSegs InErrs OutRsts InCsumErrors\nTcp: 1 900 4 0 7 0\n";
  const NETSTAT = "TcpExt: SyncookiesSent ListenOverflows ListenDrops\nTcpExt: 0 2 3\nIpExt: InNoRoutes\nIpExt: 0\n";

  test("are read from two files", () => {
    expect(parseLosses(SNMP, NETSTAT)).toEqual({ resets: 7, drops: 3 });
  });

  test("are unknown if a file cannot be read", () => {
    expect(parseLosses("", NETSTAT)).toEqual({ resets: -1, drops: 3 });
    expect(parseLosses(SNMP, "")).toEqual({ resets: 7, drops: -1 });
  });
});
