import { describe, expect, test } from "vitest";
import type { Libc, ScanText } from "../../src/manager/ports.ts";
import { type Visibility, visibilityOf } from "../../src/manager/serve.ts";
import { canonicalAddress } from "../../src/manager/sockets/address-text.ts";
import { createSocketReader } from "../../src/manager/sockets/sockets.ts";
import { DONE, playback, REFUSED, socketMessage } from "./netlink-room.ts";
import { readSocketLists } from "./socket-lists.ts";

const TABLE_HEAD = "  sl  local_address rem_address\n";
const LISTENER_LINE =
  "   0: 00000000:1F90 00000000:0000 0A 00000000:00000003 00:00000000 00000000     0        0 554 1 0000000034113527 100 0 0 10 0\n";
const UDP_LINE =
  "  421: 00000000:1388 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 554 1 0000000034113527 0\n";
const UDP_LOOPBACK_LINE = UDP_LINE.replace("00000000:1388", "0100007F:1389");
const UDP_CONNECTED_LINE = UDP_LINE.replace(" 07 ", " 01 ").replace(":1388", ":138A");

const FILES: { readonly [path: string]: string } = {
  "/proc/net/tcp": TABLE_HEAD + LISTENER_LINE,
  "/proc/net/tcp6": TABLE_HEAD,
  "/proc/net/udp": ` ${TABLE_HEAD}${UDP_LINE}${UDP_LOOPBACK_LINE}${UDP_CONNECTED_LINE}`,
  "/proc/net/udp6": ` ${TABLE_HEAD}`,
  "/proc/net/snmp": "Tcp: ActiveOpens PassiveOpens\nTcp: 5 6\n",
};

type FileChanges = { readonly [path: string]: string | undefined };

function readLists(libc: Libc, fileChanges: FileChanges = {}, enoughUdp?: number) {
  return readSocketLists(createReader(libc, fileChanges), 60_000, enoughUdp);
}

function createReader(libc: Libc, fileChanges: FileChanges) {
  const readText = (path: string) => (path in fileChanges ? fileChanges[path] : FILES[path]);
  const scan: ScanText = (path, take) => {
    const fileText = readText(path);
    if (fileText === undefined) return "missing";
    // Most pieces end in the middle of a line.
    for (let at = 0; at < fileText.length; at += 100) if (!take(fileText.slice(at, at + 100))) break;
    return "read";
  };
  return createSocketReader(libc, readText, scan, 17_890);
}

const NO_LIBC: Libc = { ...playback({}).libc, available: false };

describe("a sample of the sockets", () => {
  test("includes sockets of IPv4 and IPv6 and the kernel's counters", () => {
    const { libc } = playback({ 2: [socketMessage(), DONE], 10: [socketMessage({ family: 10, localPort: 81 }), DONE] });
    const lists = readLists(libc);
    expect(lists).toMatchObject({ source: "netlink", udpPorts: [5_000], passiveOpens: 6, activeOpens: 5 });
    expect(lists?.connections.map((s) => s.localPort)).toEqual([8080, 81]);
    expect(lists?.socketCount).toBe(5);
  });

  test("falls back to /proc/net if the kernel refuses netlink", () => {
    expect(readLists(playback({ 2: [REFUSED] }).libc)).toMatchObject({
      source: "proc",
      listeners: [{ localPort: 8080, receiveQueue: 3 }],
      connections: [],
    });
  });

  test("falls back to /proc/net if the C library cannot be loaded", () => {
    expect(readLists(NO_LIBC)?.source).toBe("proc");
  });

  test("is undefined if the netlink dump is inconsistent, even if /proc/net is readable", () => {
    expect(readLists(playback({ 2: [socketMessage({}, 0x12), DONE], 10: [DONE] }).libc)).toBeUndefined();
    expect(readLists(playback({ 2: [DONE], 10: [socketMessage({}, 0x12), DONE] }).libc)).toBeUndefined();
  });

  test("omits IPv6 only if the kernel does not support it", () => {
    const { libc } = playback({ 2: [socketMessage(), DONE], 10: [REFUSED] });
    expect(readLists(libc, { "/proc/net/tcp6": undefined })?.source).toBe("netlink");
    expect(readLists(libc)?.source).toBe("proc");
  });

  test.for([
    { title: "the IPv4 table is missing", changed: { "/proc/net/tcp": undefined } },
    { title: "the IPv6 table is truncated", changed: { "/proc/net/tcp6": TABLE_HEAD + LISTENER_LINE } },
    { title: "the UDP table is missing", changed: { "/proc/net/udp": undefined } },
    { title: "the UDP table is truncated", changed: { "/proc/net/udp": FILES["/proc/net/udp"]?.slice(0, -9) } },
  ])("is undefined if $title", ({ changed }) => {
    expect(readLists(NO_LIBC, changed)).toBeUndefined();
  });

  test("succeeds even if the kernel's counters are missing", () => {
    expect(readLists(NO_LIBC, { "/proc/net/snmp": undefined })).toMatchObject({ passiveOpens: -1, activeOpens: -1 });
  });

  test("contains each socket once, and the listeners of IPv4 and IPv6 before all connections", () => {
    const order: number[] = [];
    const parts = (family: number, port: number) => [
      socketMessage({ family, localPort: port }),
      socketMessage({ family, state: 10, localPort: port + 1 }),
      DONE,
    ];
    createSocketReader(
      playback({ 2: parts(2, 10), 10: parts(10, 20) }).libc,
      () => undefined,
      () => "missing",
      17_890,
    )(60_000, {
      onListener: (s) => order.push(s.localPort),
      onConnection: (s) => order.push(s.localPort),
      onUdpPort: () => true,
      onTooManyUdp: () => undefined,
      onIncomplete: () => undefined,
    });
    expect(order).toEqual([11, 21, 10, 20]);
  });

  test("is undefined if netlink fails after some connections, without a read of another source", () => {
    const { libc } = playback({ 2: [DONE], 10: [DONE] });
    let dumpCount = 0;
    const failingLibc: Libc = {
      ...libc,
      send: (fd, bytes, flags) => {
        dumpCount += 1;
        return dumpCount > 3 ? -1 : libc.send(fd, bytes, flags);
      },
    };
    expect(readLists(failingLibc)).toBeUndefined();
  });

  test("stops reading UDP ports at the requested number of ports", () => {
    const udpTable = ` ${TABLE_HEAD}${UDP_LINE.repeat(50)}`;
    expect(readLists(NO_LIBC, { "/proc/net/udp": udpTable }, 3)?.udpPorts).toHaveLength(3);
  });

  test("reports that there are more UDP sockets than the limit", () => {
    const readUdpSockets = (count: number) =>
      readLists(NO_LIBC, { "/proc/net/udp": ` ${TABLE_HEAD}${UDP_LOOPBACK_LINE.repeat(count)}` });
    expect(readUdpSockets(4_095)).toMatchObject({ hasTooManyUdp: false, udpPorts: [] });
    expect(readUdpSockets(100_000)).toMatchObject({ hasTooManyUdp: true, socketCount: 4_097 });
  });
});

test("a failed read of sockets counts as incomplete instead of blind only if an earlier read succeeded", () => {
  const { libc } = playback({ 2: [DONE], 10: [DONE] });
  let isWorking = false;
  const failingLibc: Libc = { ...libc, socket: (...args) => (isWorking ? libc.socket(...args) : -1) };
  const scanUdp = (path: string, take: (piece: string) => boolean) => {
    if (!path.includes("udp")) return "missing";
    take(TABLE_HEAD);
    return "read";
  };
  const read = createSocketReader(failingLibc, () => undefined, scanUdp, 17_890);
  let incompleteCount = 0;
  const visitor = {
    ...{
      onListener: () => undefined,
      onConnection: () => undefined,
      onUdpPort: () => true,
      onTooManyUdp: () => undefined,
    },
    onIncomplete: () => {
      incompleteCount += 1;
    },
  };
  expect([read(0, visitor), incompleteCount]).toEqual([undefined, 0]);
  isWorking = true;
  expect(read(0, visitor)).toBeDefined();
  isWorking = false;
  expect([read(0, visitor), incompleteCount]).toEqual([undefined, 1]);
});

describe("the visibility of the sockets at the start", () => {
  const createLibc = () => playback({ 2: [socketMessage(), DONE], 10: [DONE] }).libc;
  const createInterruptedLibc = () => playback({ 2: [socketMessage({}, 0x12), DONE], 10: [DONE] }).libc;
  const createLateInterruptedLibc = () => {
    const first = [socketMessage({ state: 10 }), DONE];
    const playbacks = [
      playback({ 2: first, 10: [DONE] }).libc,
      playback({ 2: first, 10: [DONE] }).libc,
      createInterruptedLibc(),
    ];
    let dumpCount = 0;
    const at = () => playbacks[Math.min(dumpCount - 1, 2)] ?? NO_LIBC;
    const libc: Libc = {
      ...NO_LIBC,
      available: true,
      socket: (domain, type, protocol) => {
        dumpCount += 1;
        return at().socket(domain, type, protocol);
      },
      send: (fd, bytes, flags) => at().send(fd, bytes, flags),
      recv: (fd, bytes, flags) => at().recv(fd, bytes, flags),
    };
    return libc;
  };
  const createLibcWithoutIpv6 = () => playback({ 2: [socketMessage(), DONE], 10: [REFUSED] }).libc;
  const createRefusedLibc = () => playback({ 2: [REFUSED] }).libc;
  const createLateRefusedLibc = () => {
    const first = playback({ 2: [DONE], 10: [DONE] }).libc;
    let dumpCount = 0;
    const send: Libc["send"] = (fd, bytes, flags) => {
      dumpCount += 1;
      return dumpCount > 2 ? -1 : first.send(fd, bytes, flags);
    };
    return { ...first, send };
  };
  const createSilentLibc = () => ({ ...createLibc(), recv: () => -1 });
  const WITHOUT_IPV6_TABLES = { "/proc/net/tcp6": undefined, "/proc/net/udp6": undefined };

  test.for<[string, Visibility, () => Libc, FileChanges]>([
    ["with a complete netlink dump", "netlink", createLibc, {}],
    ["even with an interrupted netlink dump", "netlink", createInterruptedLibc, {}],
    ["even with an interrupted netlink dump of connections", "netlink", createLateInterruptedLibc, {}],
    ["on a kernel without IPv6", "netlink", createLibcWithoutIpv6, WITHOUT_IPV6_TABLES],
    ["if the kernel refuses netlink", "proc", createRefusedLibc, {}],
    [
      "if the kernel refuses netlink and /proc/net does not contain IPv6 tables",
      "proc",
      createRefusedLibc,
      WITHOUT_IPV6_TABLES,
    ],
    ["if netlink does not respond", "proc", createSilentLibc, {}],
    [
      "if the kernel refuses netlink and /proc/net does not contain tables",
      "nothing",
      createRefusedLibc,
      { "/proc/net/tcp": undefined },
    ],
    ["if netlink returns only listeners", "nothing", createLateRefusedLibc, {}],
    ["if the tables have another format", "nothing", createRefusedLibc, { "/proc/net/tcp": "sl state\n0 1\n" }],
  ])("%s is `%s`", ([, visibility, libc, changed]) => {
    expect(visibilityOf(createReader(libc(), changed))).toBe(visibility);
  });
});

describe("the canonical form", () => {
  test.for([
    ["10.0.0.1", "10.0.0.1"],
    ["::ffff:10.0.0.1", "10.0.0.1"],
    ["::FFFF:0A00:0001", "10.0.0.1"],
    ["0:0:0:0:0:0:0:1", "::1"],
    ["::", "::"],
    ["2001:0DB8:0:0:1:0:0:1", "2001:db8::1:0:0:1"],
    ["1:0:2:0:3:0:4:0", "1:0:2:0:3:0:4:0"],
    ["fe80::", "fe80::"],
    ["not:an:address", "not:an:address"],
    ["1::2::3", "1::2::3"],
    ["", ""],
  ])("of the address %j is %j", ([text, expected]) => {
    expect(canonicalAddress(text ?? "")).toBe(expected);
  });
});
