/** Lists valid input of every parser, from which the fuzz tests derive damaged input. */
import { DONE, message, REFUSED, socketMessage, tcpInfo } from "../netlink-room.ts";
import type { Random } from "./seeded-random.ts";

const IPV6_LOCAL = [0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7];

const NETLINK = [
  socketMessage({ receiveQueue: 3, uid: 65_532, info: tcpInfo(11, 22, 33, 5_000_000_000) }),
  socketMessage({ state: 10, receiveQueue: 2, sendQueue: 128 }),
  socketMessage({ state: 6, timer: 3, expiresMs: 59_000 }),
  socketMessage({ family: 10, local: IPV6_LOCAL, peer: IPV6_LOCAL, info: tcpInfo(1, 2, 3, 9, 104) }),
  Buffer.concat([socketMessage({ info: tcpInfo(1, 2, 3, 4) }), socketMessage({ info: tcpInfo(5, 6, 7, 8, 60) }), DONE]),
  Buffer.concat([message(1, Buffer.alloc(4)), socketMessage({}, 0x12), DONE]),
  Buffer.concat(
    Array.from({ length: 40 }, (_, n) => socketMessage({ peerPort: 1_000 + n, info: tcpInfo(n, n, n, n) })),
  ),
  REFUSED,
  DONE,
];

const TABLE_HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";
export const TCP_TABLE = `${TABLE_HEAD}   0: 00000000:1F90 00000000:0000 0A 00000000:00000003 00:00000000 00000000     0        0 554 1 0000000034113527 100 0 0 10 0
  17: 0700010A:1F90 0900020A:C350 01 00000010:00000005 02:000A7214 00000000 65532        0 991 2 0000000000000000 20 4 30 10 -1
`;
const TCP6_TABLE = `${TABLE_HEAD}   3: 0000000000000000FFFF00000100007F:1F90 B80D0120000000000000000000000001:C350 06 00000000:00000000 03:00001770 00000000     0        0 0 3 0000000000000000
   4: 00000000000000000000000000000000:0016 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1 0000000000000000 100 0 0 10 0
`;
export const SNMP = `Ip: Forwarding DefaultTTL
Ip: 1 64
Tcp: RtoAlgorithm RtoMin RtoMax MaxConn ActiveOpens PassiveOpens AttemptFails EstabResets CurrEstab
Tcp: 1 200 120000 -1 4711 815 3 2 1
Udp: InDatagrams NoPorts
Udp: 1 0
`;
const FLAGS = `--port=17890
--drain-delay=5s
--deregistration-delay=250ms
--drain-timeout=2m
--quiet-period=2s
--app-grace=1h
--drained-when=requests
--driver=http
--drain-url=http://127.0.0.1:8080/drain
--active-url=http://[::1]:8080/metrics#http_active{route="/a"}
--drain-ports=80,443,8080
--ignore-ports=9090
--hooks=app:app,proxy:mesh-proxy
--kubelet-probes=8080:10s,8081:1s
--address-scope=10.1.0.7
--completes
--classic`;
const ORIGINALS = [
  '{"chain":{"app":{"httpGet":{"port":8080,"path":"/bye","scheme":"HTTP","httpHeaders":[{"name":"X-A","value":"b c"}]}}}}',
  '{"chain":{"app":{"sleep":{"seconds":5}},"web":{"httpGet":{"port":80}}}}',
  '{"grace":30,"hooks":{"app":null},"chain":{"a":{"exec":{"command":["x"]}}}}',
  "{}",
];
export const METRICS = `# HELP http_active Active requests.
# TYPE http_active gauge
http_active{route="/a",code="2\\"x"} 3
http_active{route="/b"} 4 1700000000000
http_active_total 99
no_labels 7
odd NaN
`;
const JSON_COUNT = '{"server":{"active":[1,2,{"n":3}],"a/b":{"c~d":4},"text":"5"},"é":6}';

const RELAY_STATUS =
  '{"state":"in","terminating":true,"reason":"Service web still has the Pod as a ready endpoint \\u00e9","graceSeconds":30}';
/** An ASN.1 SEQUENCE of 252 bytes; the parser checks only this outer structure of a certificate. */
const DER = Buffer.concat([Buffer.from([0x30, 0x82, 0, 0xfc]), Buffer.alloc(0xfc, 7)]).toString("base64");
const RELAY_VARIABLES = `LASTCALL_RELAY_ADDRESS=[fd00::10]:443
LASTCALL_RELAY_NAME=relay-1.lastcall.internal
LASTCALL_RELAY_CA=${DER}
LASTCALL_RELAY_CREDENTIAL=k1.cGF5bG9hZA.bWFj
POD_NAMESPACE=shop
POD_NAME=web-0
POD_UID=11111111-2222-3333-4444-555555555555
POD_IPS=10.0.0.7,fd00::7`;

export type Sample = { readonly parser: string; readonly bytes: Buffer; readonly extraArgument: string };

const textSample = (parser: string, value: string, extraArgument = ""): Sample => ({
  parser,
  bytes: Buffer.from(value),
  extraArgument,
});

export const SAMPLES: readonly Sample[] = [
  ...NETLINK.map((bytes) => ({ parser: "netlink", bytes, extraArgument: "" })),
  textSample("tcp-table", TCP_TABLE),
  textSample("tcp-table", ` ${TCP_TABLE}`),
  textSample("tcp6-table", TCP6_TABLE),
  textSample("snmp", SNMP),
  textSample("flags", FLAGS),
  ...ORIGINALS.map((value) => textSample("original", value)),
  ...["12\n", "0", "1e2", " +7.5 "].map((value) => textSample("count", value)),
  ...["http_active", 'http_active{route="/b"}', "no_labels", 'http_active{code="2\\"x"}'].map((extraArgument) =>
    textSample("count", METRICS, extraArgument),
  ),
  ...["/server/active/2/n", "/server/a~1b/c~0d", "/server/text", "/é", "/__proto__/constructor"].map((extraArgument) =>
    textSample("count", JSON_COUNT, extraArgument),
  ),
  ...['http://127.0.0.1:81/a?b=c#x{y="%2F"}', "http://[::1]", "http://10.0.0.1?q#/n"].map((value) =>
    textSample("target", value),
  ),
  textSample("depth", '{"a":[[[{"b":"]]\\"}"}]]]}'),
  ...["::ffff:10.0.0.1", "2001:DB8:0:0::1", "127.0.0.1", "fe80::1:2.3.4.5"].map((value) =>
    textSample("address", value),
  ),
  textSample("route", "/t0ken/status", "GET"),
  textSample("route", "/t0ken/drain?x=1", "POST"),
  textSample("route", "/t0ken/prestop/web-1", "GET"),
  textSample("relay-status", RELAY_STATUS),
  ...[
    `status ${RELAY_STATUS}`,
    "lost the relay's address refuses connections",
    "dial",
    "undelivered the relay responded with status 503",
  ].map((value) => textSample("relay-message", value)),
  ...["drain-delay 1500", "disconnect", 'report {"version":1,"why":"é"}'].map((value) =>
    textSample("relay-command", value),
  ),
  textSample("relay-settings", RELAY_VARIABLES),
  textSample("relay-settings", RELAY_VARIABLES.replace("[fd00::10]", "10.0.0.10")),
  textSample("relay-lines", `status ${RELAY_STATUS}\n`.repeat(2)),
  textSample("relay-lines", "dial\nlost é😀\n\nstatus x\n"),
  ...["250ms", "30s", "999999h"].map((value) => textSample("duration", value)),
];

/** @returns the parser's argument besides the bytes; for netlink this is the received length, which is sometimes wrong */
export function extraArgumentFor(sample: Sample, bytes: Buffer, random: Random): string {
  if (sample.parser !== "netlink") return sample.extraArgument;
  return String(random.chance(0.8) ? bytes.length : random.below(bytes.length * 2 + 2));
}
