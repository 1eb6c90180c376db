import { describe, expect, test } from "vitest";
import type { Libc } from "../../src/manager/ports.ts";
import { canonicalAddress } from "../../src/manager/sockets/address-text.ts";
import { createSocketReader } from "../../src/manager/sockets/sockets.ts";
import { DONE, playback, REFUSED, socketMessage } from "./netlink-room.ts";

const HEAD = "  sl  local_address rem_address\n";
const LISTENER =
  "   0: 00000000:1F90 00000000:0000 0A 00000000:00000003 00:00000000 00000000     0        0 554 1 0000000034113527 100 0 0 10 0\n";
const UDP =
  "  421: 00000000:1388 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 554 1 0000000034113527 0\n";
const UDP_LOOPBACK = UDP.replace("00000000:1388", "0100007F:1389");
const UDP_CONNECTED = UDP.replace(" 07 ", " 01 ").replace(":1388", ":138A");

const FILES: { readonly [path: string]: string } = {
  "/proc/net/tcp": HEAD + LISTENER,
  "/proc/net/tcp6": HEAD,
  "/proc/net/udp": ` ${HEAD}${UDP}${UDP_LOOPBACK}${UDP_CONNECTED}`,
  "/proc/net/udp6": ` ${HEAD}`,
  "/proc/net/snmp": "Tcp: ActiveOpens PassiveOpens\nTcp: 5 6\n",
};

function look(libc: Libc, changed: { readonly [path: string]: string | undefined } = {}) {
  return createSocketReader(libc, (path) => (path in changed ? changed[path] : FILES[path]))(60_000);
}

const NO_LIBC: Libc = { ...playback({}).libc, available: false };

describe("a look at the sockets", () => {
  test("joins both address families and the counters", () => {
    const { libc } = playback({ 2: [socketMessage(), DONE], 10: [socketMessage({ family: 10, localPort: 81 }), DONE] });
    const seen = look(libc);
    expect(seen).toMatchObject({ source: "netlink", udpPorts: [5_000], passiveOpens: 6, activeOpens: 5 });
    expect(seen?.sockets.map((s) => s.localPort)).toEqual([8080, 81]);
  });

  test("falls back to the tables where netlink is refused", () => {
    expect(look(playback({ 2: [REFUSED] }).libc)).toMatchObject({
      source: "proc",
      sockets: [{ localPort: 8080, receiveQueue: 3 }],
    });
  });

  test("falls back to the tables without a C library", () => {
    expect(look(NO_LIBC)?.source).toBe("proc");
  });

  test("is unknown when the dump is inconsistent, even where the tables could be read", () => {
    expect(look(playback({ 2: [socketMessage({}, 0x12), DONE], 10: [DONE] }).libc)).toBeUndefined();
    expect(look(playback({ 2: [DONE], 10: [socketMessage({}, 0x12), DONE] }).libc)).toBeUndefined();
  });

  test("does without IPv6 only where the kernel has none", () => {
    const { libc } = playback({ 2: [socketMessage(), DONE], 10: [REFUSED] });
    expect(look(libc, { "/proc/net/tcp6": undefined })?.source).toBe("netlink");
    expect(look(libc)?.source).toBe("proc");
  });

  test.for([
    { says: "the IPv4 table is missing", changed: { "/proc/net/tcp": undefined } },
    { says: "the IPv6 table was cut", changed: { "/proc/net/tcp6": HEAD + LISTENER } },
    { says: "the UDP table is missing", changed: { "/proc/net/udp": undefined } },
    { says: "the UDP table was cut", changed: { "/proc/net/udp": FILES["/proc/net/udp"]?.slice(0, -9) } },
  ])("is unknown when $says", ({ changed }) => {
    expect(look(NO_LIBC, changed)).toBeUndefined();
  });

  test("goes on without the counters", () => {
    expect(look(NO_LIBC, { "/proc/net/snmp": undefined })).toMatchObject({ passiveOpens: -1, activeOpens: -1 });
  });
});

describe("an address", () => {
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
  ])("%s has one spelling", ([text, expected]) => {
    expect(canonicalAddress(text ?? "")).toBe(expected);
  });
});
