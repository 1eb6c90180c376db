/** What reaches an open port: requests as the kubelet sends them, and everything else. */
import { TOKEN } from "../manager-process.ts";
import type { Sent } from "./exchange.ts";

export type Request = Sent & {
  readonly says: string;
  /** The statuses that both builds answer, or what each does where they may differ. */
  readonly answer: readonly number[] | Differing;
  /** The connection is closed in order, so that no answer is lost. */
  readonly inOrder?: boolean;
};

/** Two verdicts that are both harmless, with the reason why they are not the same. */
export type Differing = {
  readonly node: readonly number[];
  readonly native: readonly number[];
  readonly because: string;
};

// Why the runtimes may differ. Behind this port is no one else: anyone who calls talks to the manager alone, every answer
// names its length and ends the connection, and only method, path and the caller's address are looked at.
const BODY_UNREAD = "the native runtime takes the first length it can read and judges the path, which needs no body";
const FIELDS_UNREAD = "the native runtime does not check the letters of what the manager does not look at";
const STRICT_LINES = "the native runtime wants the request line first and whole, as every client sends it";
const NEVER_ENDS =
  "the native runtime waits for the end of the line or of the header; the connection's own limit ends that";

const STATUS = `/${TOKEN}/status`;
const HOST = "Host: 10.0.0.7:17890\r\n";

function get(path: string, ...fields: readonly string[]): string {
  return `GET ${path} HTTP/1.1\r\n${HOST}${fields.map((field) => `${field}\r\n`).join("")}\r\n`;
}

function post(fields: readonly string[], body: string): string {
  return `POST /x HTTP/1.1\r\n${HOST}${fields.map((field) => `${field}\r\n`).join("")}\r\n${body}`;
}

/** What a caller sends who means well. */
export const WELL_MEANT: readonly Request[] = [
  {
    says: "a GET like the kubelet's",
    pieces: [get(STATUS, "User-Agent: kube-lifecycle/1.35", "Accept: */*", "Connection: close")],
    answer: [200],
  },
  { says: "a GET that would keep the connection", pieces: [get(STATUS, "Connection: keep-alive")], answer: [200] },
  { says: "a GET that says nothing about the connection", pieces: [get(STATUS)], answer: [200] },
  { says: "a GET of HTTP/1.0", pieces: [`GET ${STATUS} HTTP/1.0\r\n\r\n`], answer: [200] },
  {
    says: "a GET of HTTP/1.0 that would keep the connection",
    pieces: [`GET ${STATUS} HTTP/1.0\r\nConnection: keep-alive\r\n\r\n`],
    answer: [200],
  },
  { says: "a GET whose sender stops sending", pieces: [get(STATUS)], ending: "half-close", answer: [200] },
  { says: "a GET in crumbs", pieces: get(STATUS).match(/.{1,20}/gs) ?? [], answer: [200] },
  { says: "a GET in two pieces", pieces: [get(STATUS).slice(0, 30), get(STATUS).slice(30)], answer: [200] },
  { says: "a GET with a query", pieces: [get(`${STATUS}?now=1`)], answer: [200] },
  { says: "a GET of a whole URL", pieces: [get(`http://10.0.0.7:17890${STATUS}`)], answer: [404] },
  { says: "a GET with a body", pieces: [`${get(STATUS, "Content-Length: 5")}hello`], answer: [200] },
  { says: "a HEAD", pieces: [`HEAD ${STATUS} HTTP/1.1\r\n${HOST}\r\n`], bodyless: true, answer: [404] },
  { says: "a POST with a body", pieces: [post(["Content-Length: 5"], "hello")], answer: [404] },
  {
    says: "a POST in chunks",
    pieces: [post(["Transfer-Encoding: chunked"], "5\r\nhello\r\n0\r\n\r\n")],
    answer: [404],
  },
  {
    says: "a POST in chunks with a trailer",
    pieces: [post(["Transfer-Encoding: chunked"], "5;a=b\r\nhello\r\n0\r\nA: b\r\n\r\n")],
    answer: [404],
  },
  { says: "an empty POST", pieces: [post(["Content-Length: 0"], "")], answer: [404] },
  { says: "a DELETE", pieces: [`DELETE ${STATUS} HTTP/1.1\r\n${HOST}\r\n`], answer: [404] },
  { says: "an OPTIONS of everything", pieces: [`OPTIONS * HTTP/1.1\r\n${HOST}\r\n`], answer: [404] },
  { says: "a header of 8 KB", pieces: [get(STATUS, `A: ${"a".repeat(8_000)}`)], answer: [200] },
  {
    says: "fifty headers",
    pieces: [get(STATUS, ...Array.from({ length: 50 }, (_, at) => `X-${at}: ${at}`))],
    answer: [200],
  },
  { says: "a header of other letters", pieces: [get(STATUS, "A: t\u00e4glich")], answer: [200] },
  {
    says: "two requests in one go",
    pieces: [get(STATUS) + get("/x")],
    answer: [200],
  },
  {
    says: "an expectation",
    pieces: [`${post(["Content-Length: 5", "Expect: 100-continue"], "")}hello`],
    answer: [404],
  },
  {
    says: "another expectation",
    pieces: [post(["Content-Length: 0", "Expect: tea"], "")],
    answer: [404],
  },
  {
    says: "an expectation, and its body later",
    pieces: [post(["Content-Length: 5", "Expect: 100-continue"], ""), "hello"],
    answer: [404],
  },
  {
    says: "a body of 1 MB",
    pieces: [post(["Content-Length: 1000000"], "b".repeat(1_000_000))],
    answer: [404],
    inOrder: true,
  },
  {
    says: "a body that comes after the answer",
    pieces: [post(["Content-Length: 10"], "")],
    late: "hello",
    answer: [404],
    inOrder: true,
  },
  {
    says: "an upgrade to WebSocket",
    pieces: [get(STATUS, "Connection: Upgrade", "Upgrade: websocket")],
    answer: [200],
  },
  {
    says: "an upgrade to HTTP/2",
    pieces: [get(STATUS, "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AA")],
    answer: [200],
  },
];

/** What no one sends who means well. */
export const HOSTILE: readonly Request[] = [
  { says: "no Host", pieces: [`GET ${STATUS} HTTP/1.1\r\n\r\n`], answer: [400] },
  { says: "two Hosts", pieces: [get(STATUS, "Host: other")], answer: [200] },
  {
    says: "two lengths",
    pieces: [post(["Content-Length: 1", "Content-Length: 2"], "ab")],
    answer: { node: [400], native: [404], because: BODY_UNREAD },
  },
  {
    says: "a length and chunks",
    pieces: [post(["Content-Length: 5", "Transfer-Encoding: chunked"], "0\r\n\r\n")],
    answer: { node: [400], native: [404], because: BODY_UNREAD },
  },
  {
    says: "a length below zero",
    pieces: [post(["Content-Length: -5"], "hello")],
    answer: { node: [400], native: [404], because: BODY_UNREAD },
  },
  {
    says: "a length with a sign",
    pieces: [post(["Content-Length: +5"], "hello")],
    answer: { node: [400], native: [404], because: BODY_UNREAD },
  },
  {
    says: "a length beyond all numbers",
    pieces: [post([`Content-Length: ${"9".repeat(30)}`], "hello")],
    answer: { node: [400], native: [404], because: BODY_UNREAD },
  },
  {
    says: "a body of 1 MB that no field announces",
    pieces: [get(STATUS) + "b".repeat(1_000_000)],
    answer: [200],
    inOrder: true,
  },
  {
    says: "a body of 1 MB that is announced with five bytes",
    pieces: [post(["Content-Length: 5"], "b".repeat(1_000_000))],
    answer: [404],
    inOrder: true,
  },
  { says: "a length that never comes", pieces: [post(["Content-Length: 5"], "he")], answer: [404] },
  { says: "an unknown transfer encoding", pieces: [post(["Transfer-Encoding: xchunked"], "0\r\n\r\n")], answer: [404] },
  {
    says: "a chunk of no size",
    pieces: [post(["Transfer-Encoding: chunked"], "zz\r\nhello\r\n0\r\n\r\n")],
    answer: [404],
  },
  {
    says: "a chunk of all sizes",
    pieces: [post(["Transfer-Encoding: chunked"], "ffffffffffffffff\r\nhello")],
    answer: [404],
  },
  {
    says: "a space before the colon",
    pieces: [get(STATUS, "A : b")],
    answer: { node: [400], native: [200], because: FIELDS_UNREAD },
  },
  { says: "a folded header", pieces: [get(STATUS, "A: b", " c")], answer: [400] },
  { says: "a header without a colon", pieces: [get(STATUS, "hello")], answer: [400] },
  {
    says: "a NUL in a header",
    pieces: [get(STATUS, "A: b\0c")],
    answer: { node: [400], native: [200], because: FIELDS_UNREAD },
  },
  {
    says: "a NUL in the path",
    pieces: [get(`${STATUS}\0`)],
    answer: { node: [400], native: [404], because: FIELDS_UNREAD },
  },
  {
    says: "a bell in a header",
    pieces: [get(STATUS, "A: \x07")],
    answer: { node: [400], native: [200], because: FIELDS_UNREAD },
  },
  {
    says: "lines that end in LF only",
    pieces: [get(STATUS).replaceAll("\r\n", "\n")],
    answer: { node: [400], native: [], because: NEVER_ENDS },
  },
  {
    says: "a blank line first",
    pieces: [`\r\n${get(STATUS)}`],
    answer: { node: [200], native: [400], because: STRICT_LINES },
  },
  {
    says: "no version",
    pieces: [`GET ${STATUS}\r\n\r\n`],
    answer: { node: [200], native: [400], because: STRICT_LINES },
  },
  { says: "a version from the future", pieces: [get(STATUS).replace("HTTP/1.1", "HTTP/9.9")], answer: [400] },
  { says: "the first words of HTTP/2", pieces: ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"], answer: [400] },
  {
    says: "a TLS greeting",
    pieces: ["\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"],
    answer: { node: [400], native: [], because: NEVER_ENDS },
  },
  {
    says: "an unknown method",
    pieces: [get(STATUS).replace("GET", "BREW")],
    answer: { node: [400], native: [404], because: FIELDS_UNREAD },
  },
  {
    says: "a method in small letters",
    pieces: [get(STATUS).replace("GET", "get")],
    answer: { node: [400], native: [404], because: FIELDS_UNREAD },
  },
  { says: "a tunnel", pieces: [`CONNECT 10.0.0.1:443 HTTP/1.1\r\n${HOST}\r\n`], answer: [] },
  {
    says: "a header of 100 KB",
    pieces: [get(STATUS, `A: ${"a".repeat(100_000)}`)],
    answer: [400],
  },
  {
    says: "two thousand headers",
    pieces: [get(STATUS, ...Array.from({ length: 2_000 }, (_, at) => `X-${at}: ${at}`))],
    answer: [400],
  },
  {
    says: "a path of 100 KB",
    pieces: [get(`/${"a".repeat(100_000)}`)],
    answer: [400],
  },
  {
    says: "ten requests in one go",
    pieces: [get("/x").repeat(10)],
    answer: [404],
  },
  {
    says: "half a request and no more sending",
    pieces: [get(STATUS).slice(0, 40)],
    ending: "half-close",
    answer: { node: [400], native: [], because: NEVER_ENDS },
  },
  { says: "half a request and a reset", pieces: [get(STATUS).slice(0, 40)], ending: "reset", answer: [] },
  { says: "a whole request and a reset", pieces: [get(STATUS)], ending: "reset", answer: [] },
  { says: "half a request and silence", pieces: [get(STATUS).slice(0, 40)], answer: [] },
  { says: "nothing", pieces: [""], answer: [] },
  { says: "half a request, dripping", pieces: [`GET ${STATUS} HTTP/1.1\r\nA: `, ..."a".repeat(300)], answer: [] },
  { says: "a body that drips", pieces: [post(["Content-Length: 1000"], ""), ..."a".repeat(300)], answer: [404] },
];
