/** Lists requests to the manager's port: well-formed ones like the kubelet's, and malformed ones. */
import { TOKEN } from "../manager-process.ts";
import type { RawRequest } from "./exchange.ts";

export type RequestCase = RawRequest & {
  readonly title: string;
  /** Response statuses: one list if both builds send the same, otherwise a list for each build. */
  readonly expectedStatuses: readonly number[] | DifferentStatuses;
  /** Whether the connection must close without a reset, which could lose the response. */
  readonly closesWithoutReset?: boolean;
};

/** Different statuses that are both harmless, with the reason. */
export type DifferentStatuses = {
  readonly node: readonly number[];
  readonly native: readonly number[];
  readonly reason: string;
};

// Differences are harmless: proxies do not share the connection, every response has a length and ends the connection, and
// the manager reads only the method, the path and the client's address.
const BODY_UNREAD = "the native runtime uses the first readable length and routes the path, which needs no body";
const FIELDS_UNREAD = "the native runtime does not validate fields that the manager does not read";
const STRICT_LINES = "the native runtime requires a complete request line first";
const NEVER_ENDS =
  "the native runtime waits for the end of the line or of the header; the connection's own limit ends that";

const STATUS_PATH = `/${TOKEN}/status`;
const HOST_FIELD = "Host: 10.0.0.7:17890\r\n";

function getRequest(path: string, ...fields: readonly string[]): string {
  return `GET ${path} HTTP/1.1\r\n${HOST_FIELD}${fields.map((field) => `${field}\r\n`).join("")}\r\n`;
}

function postRequest(fields: readonly string[], body: string): string {
  return `POST /x HTTP/1.1\r\n${HOST_FIELD}${fields.map((field) => `${field}\r\n`).join("")}\r\n${body}`;
}

export const WELL_FORMED_REQUESTS: readonly RequestCase[] = [
  {
    title: "a GET like the kubelet's",
    pieces: [getRequest(STATUS_PATH, "User-Agent: kube-lifecycle/1.35", "Accept: */*", "Connection: close")],
    expectedStatuses: [200],
  },
  {
    title: "a GET with keep-alive",
    pieces: [getRequest(STATUS_PATH, "Connection: keep-alive")],
    expectedStatuses: [200],
  },
  { title: "a GET without a Connection field", pieces: [getRequest(STATUS_PATH)], expectedStatuses: [200] },
  { title: "a GET of HTTP/1.0", pieces: [`GET ${STATUS_PATH} HTTP/1.0\r\n\r\n`], expectedStatuses: [200] },
  {
    title: "a GET of HTTP/1.0 with keep-alive",
    pieces: [`GET ${STATUS_PATH} HTTP/1.0\r\nConnection: keep-alive\r\n\r\n`],
    expectedStatuses: [200],
  },
  {
    title: "a GET with a half-close",
    pieces: [getRequest(STATUS_PATH)],
    ending: "half-close",
    expectedStatuses: [200],
  },
  {
    title: "a GET in pieces of 20 bytes",
    pieces: getRequest(STATUS_PATH).match(/.{1,20}/gs) ?? [],
    expectedStatuses: [200],
  },
  {
    title: "a GET in two pieces",
    pieces: [getRequest(STATUS_PATH).slice(0, 30), getRequest(STATUS_PATH).slice(30)],
    expectedStatuses: [200],
  },
  { title: "a GET with a query", pieces: [getRequest(`${STATUS_PATH}?now=1`)], expectedStatuses: [200] },
  {
    title: "a GET of an absolute URL",
    pieces: [getRequest(`http://10.0.0.7:17890${STATUS_PATH}`)],
    expectedStatuses: [404],
  },
  {
    title: "a GET with a body",
    pieces: [`${getRequest(STATUS_PATH, "Content-Length: 5")}hello`],
    expectedStatuses: [200],
  },
  {
    title: "a HEAD",
    pieces: [`HEAD ${STATUS_PATH} HTTP/1.1\r\n${HOST_FIELD}\r\n`],
    isBodyless: true,
    expectedStatuses: [404],
  },
  { title: "a POST with a body", pieces: [postRequest(["Content-Length: 5"], "hello")], expectedStatuses: [404] },
  {
    title: "a POST with chunked encoding",
    pieces: [postRequest(["Transfer-Encoding: chunked"], "5\r\nhello\r\n0\r\n\r\n")],
    expectedStatuses: [404],
  },
  {
    title: "a POST with chunked encoding and a trailer",
    pieces: [postRequest(["Transfer-Encoding: chunked"], "5;a=b\r\nhello\r\n0\r\nA: b\r\n\r\n")],
    expectedStatuses: [404],
  },
  { title: "an empty POST", pieces: [postRequest(["Content-Length: 0"], "")], expectedStatuses: [404] },
  { title: "a DELETE", pieces: [`DELETE ${STATUS_PATH} HTTP/1.1\r\n${HOST_FIELD}\r\n`], expectedStatuses: [404] },
  { title: "an OPTIONS *", pieces: [`OPTIONS * HTTP/1.1\r\n${HOST_FIELD}\r\n`], expectedStatuses: [404] },
  { title: "a header of 8 KB", pieces: [getRequest(STATUS_PATH, `A: ${"a".repeat(8_000)}`)], expectedStatuses: [200] },
  {
    title: "fifty headers",
    pieces: [getRequest(STATUS_PATH, ...Array.from({ length: 50 }, (_, at) => `X-${at}: ${at}`))],
    expectedStatuses: [200],
  },
  {
    title: "a header with non-ASCII characters",
    pieces: [getRequest(STATUS_PATH, "A: t\u00e4glich")],
    expectedStatuses: [200],
  },
  {
    title: "two pipelined requests",
    pieces: [getRequest(STATUS_PATH) + getRequest("/x")],
    expectedStatuses: [200],
  },
  {
    title: "a request with Expect: 100-continue",
    pieces: [`${postRequest(["Content-Length: 5", "Expect: 100-continue"], "")}hello`],
    expectedStatuses: [404],
  },
  {
    title: "a request with an unknown Expect field",
    pieces: [postRequest(["Content-Length: 0", "Expect: tea"], "")],
    expectedStatuses: [404],
  },
  {
    title: "Expect: 100-continue with a later body",
    pieces: [postRequest(["Content-Length: 5", "Expect: 100-continue"], ""), "hello"],
    expectedStatuses: [404],
  },
  {
    title: "a body of 1 MB",
    pieces: [postRequest(["Content-Length: 1000000"], "b".repeat(1_000_000))],
    expectedStatuses: [404],
    closesWithoutReset: true,
  },
  {
    title: "a body that arrives after the response",
    pieces: [postRequest(["Content-Length: 10"], "")],
    lateText: "hello",
    expectedStatuses: [404],
    closesWithoutReset: true,
  },
  {
    title: "a request for an upgrade to WebSocket",
    pieces: [getRequest(STATUS_PATH, "Connection: Upgrade", "Upgrade: websocket")],
    expectedStatuses: [200],
  },
  {
    title: "a request for an upgrade to HTTP/2",
    pieces: [getRequest(STATUS_PATH, "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AA")],
    expectedStatuses: [200],
  },
];

export const HOSTILE_REQUESTS: readonly RequestCase[] = [
  { title: "a request without a Host field", pieces: [`GET ${STATUS_PATH} HTTP/1.1\r\n\r\n`], expectedStatuses: [400] },
  {
    title: "a request with two Host fields",
    pieces: [getRequest(STATUS_PATH, "Host: other")],
    expectedStatuses: [200],
  },
  {
    title: "two Content-Length fields",
    pieces: [postRequest(["Content-Length: 1", "Content-Length: 2"], "ab")],
    expectedStatuses: { node: [400], native: [404], reason: BODY_UNREAD },
  },
  {
    title: "Content-Length and chunked encoding",
    pieces: [postRequest(["Content-Length: 5", "Transfer-Encoding: chunked"], "0\r\n\r\n")],
    expectedStatuses: { node: [400], native: [404], reason: BODY_UNREAD },
  },
  {
    title: "a negative Content-Length",
    pieces: [postRequest(["Content-Length: -5"], "hello")],
    expectedStatuses: { node: [400], native: [404], reason: BODY_UNREAD },
  },
  {
    title: "a Content-Length with a sign",
    pieces: [postRequest(["Content-Length: +5"], "hello")],
    expectedStatuses: { node: [400], native: [404], reason: BODY_UNREAD },
  },
  {
    title: "a Content-Length beyond the integers",
    pieces: [postRequest([`Content-Length: ${"9".repeat(30)}`], "hello")],
    expectedStatuses: { node: [400], native: [404], reason: BODY_UNREAD },
  },
  {
    title: "a body of 1 MB without a Content-Length",
    pieces: [getRequest(STATUS_PATH) + "b".repeat(1_000_000)],
    expectedStatuses: [200],
    closesWithoutReset: true,
  },
  {
    title: "a body of 1 MB with a Content-Length of 5",
    pieces: [postRequest(["Content-Length: 5"], "b".repeat(1_000_000))],
    expectedStatuses: [404],
    closesWithoutReset: true,
  },
  { title: "an incomplete body", pieces: [postRequest(["Content-Length: 5"], "he")], expectedStatuses: [404] },
  {
    title: "an unknown transfer encoding",
    pieces: [postRequest(["Transfer-Encoding: xchunked"], "0\r\n\r\n")],
    expectedStatuses: [404],
  },
  {
    title: "a chunk without a size",
    pieces: [postRequest(["Transfer-Encoding: chunked"], "zz\r\nhello\r\n0\r\n\r\n")],
    expectedStatuses: [404],
  },
  {
    title: "a chunk of the maximum size",
    pieces: [postRequest(["Transfer-Encoding: chunked"], "ffffffffffffffff\r\nhello")],
    expectedStatuses: [404],
  },
  {
    title: "a space before the colon",
    pieces: [getRequest(STATUS_PATH, "A : b")],
    expectedStatuses: { node: [400], native: [200], reason: FIELDS_UNREAD },
  },
  { title: "a folded header", pieces: [getRequest(STATUS_PATH, "A: b", " c")], expectedStatuses: [400] },
  { title: "a header without a colon", pieces: [getRequest(STATUS_PATH, "hello")], expectedStatuses: [400] },
  {
    title: "a NUL in a header",
    pieces: [getRequest(STATUS_PATH, "A: b\0c")],
    expectedStatuses: { node: [400], native: [200], reason: FIELDS_UNREAD },
  },
  {
    title: "a NUL in the path",
    pieces: [getRequest(`${STATUS_PATH}\0`)],
    expectedStatuses: { node: [400], native: [404], reason: FIELDS_UNREAD },
  },
  {
    title: "a BEL character in a header",
    pieces: [getRequest(STATUS_PATH, "A: \x07")],
    expectedStatuses: { node: [400], native: [200], reason: FIELDS_UNREAD },
  },
  {
    title: "lines that end with LF instead of CRLF",
    pieces: [getRequest(STATUS_PATH).replaceAll("\r\n", "\n")],
    expectedStatuses: { node: [400], native: [], reason: NEVER_ENDS },
  },
  {
    title: "an empty line before the request line",
    pieces: [`\r\n${getRequest(STATUS_PATH)}`],
    expectedStatuses: { node: [200], native: [400], reason: STRICT_LINES },
  },
  {
    title: "a request line without a version",
    pieces: [`GET ${STATUS_PATH}\r\n\r\n`],
    expectedStatuses: { node: [200], native: [400], reason: STRICT_LINES },
  },
  {
    title: "an unknown version",
    pieces: [getRequest(STATUS_PATH).replace("HTTP/1.1", "HTTP/9.9")],
    expectedStatuses: [400],
  },
  { title: "the HTTP/2 preface", pieces: ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"], expectedStatuses: [400] },
  {
    title: "a TLS ClientHello",
    pieces: ["\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"],
    expectedStatuses: { node: [400], native: [], reason: NEVER_ENDS },
  },
  {
    title: "an unknown method",
    pieces: [getRequest(STATUS_PATH).replace("GET", "BREW")],
    expectedStatuses: { node: [400], native: [404], reason: FIELDS_UNREAD },
  },
  {
    title: "a method in lower case",
    pieces: [getRequest(STATUS_PATH).replace("GET", "get")],
    expectedStatuses: { node: [400], native: [404], reason: FIELDS_UNREAD },
  },
  { title: "a CONNECT", pieces: [`CONNECT 10.0.0.1:443 HTTP/1.1\r\n${HOST_FIELD}\r\n`], expectedStatuses: [] },
  {
    title: "a header of 100 KB",
    pieces: [getRequest(STATUS_PATH, `A: ${"a".repeat(100_000)}`)],
    expectedStatuses: [400],
  },
  {
    title: "two thousand headers",
    pieces: [getRequest(STATUS_PATH, ...Array.from({ length: 2_000 }, (_, at) => `X-${at}: ${at}`))],
    expectedStatuses: [400],
  },
  {
    title: "a path of 100 KB",
    pieces: [getRequest(`/${"a".repeat(100_000)}`)],
    expectedStatuses: [400],
  },
  {
    title: "ten pipelined requests",
    pieces: [getRequest("/x").repeat(10)],
    expectedStatuses: [404],
  },
  {
    title: "an incomplete request followed by a half-close",
    pieces: [getRequest(STATUS_PATH).slice(0, 40)],
    ending: "half-close",
    expectedStatuses: { node: [400], native: [], reason: NEVER_ENDS },
  },
  {
    title: "an incomplete request followed by a reset",
    pieces: [getRequest(STATUS_PATH).slice(0, 40)],
    ending: "reset",
    expectedStatuses: [],
  },
  {
    title: "a complete request followed by a reset",
    pieces: [getRequest(STATUS_PATH)],
    ending: "reset",
    expectedStatuses: [],
  },
  {
    title: "an incomplete request followed by silence",
    pieces: [getRequest(STATUS_PATH).slice(0, 40)],
    expectedStatuses: [],
  },
  { title: "a time limit without any bytes", pieces: [""], expectedStatuses: [] },
  {
    title: "a header sent in single bytes",
    pieces: [`GET ${STATUS_PATH} HTTP/1.1\r\nA: `, ..."a".repeat(300)],
    expectedStatuses: [],
  },
  {
    title: "a body sent in single bytes",
    pieces: [postRequest(["Content-Length: 1000"], ""), ..."a".repeat(300)],
    expectedStatuses: [404],
  },
];
