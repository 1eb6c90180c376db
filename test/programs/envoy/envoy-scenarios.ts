/** Lists all scenarios with an Envoy, in the order of the tables. */

import type { Scenario } from "./envoy-scenario.ts";
import { http1Load, http1Request } from "./http1-clients.ts";
import { grpcStream, http2Idle, http2Load } from "./http2-clients.ts";
import { grpcioClients, http3Clients } from "./python-clients.ts";
import { tcpSession, udpFlow, webSocket } from "./session-clients.ts";

const NEVER = Number.POSITIVE_INFINITY;
/** Drain timeout for sessions that never close: shorter than the default of a minute. */
const SHORT_DEADLINE = { settings: { "drain-timeout": "10s" }, timeoutMs: 10_000 };

/** 500 requests a second; half of the clients reconnect every 5 s, the others never. */
const HTTP1_LOAD = { clients: 20, paceMs: 40, lifetimeMs: (client: number) => (client % 2 === 0 ? 5_000 : NEVER) };
const HTTP2_LOAD = { clients: 10, loopsEach: 2, paceMs: 40 };

export const SCENARIOS: readonly Scenario[] = [
  {
    key: "none",
    title: "no traffic",
    ending: "delay",
    start: (target) => http1Load({ ...HTTP1_LOAD, clients: 0 })(target),
    alsoOnNode: true,
  },
  {
    key: "http1",
    title: "HTTP/1.1, 500 requests/s on 20 connections",
    ending: "quiet",
    closesOnDrain: true,
    start: http1Load(HTTP1_LOAD),
    heavy: true,
    alsoOnNode: true,
  },
  {
    key: "http1-gradual",
    title: "HTTP/1.1, 500 requests/s, Envoy's drain strategy gradual",
    ending: "quiet",
    closesOnDrain: true,
    start: http1Load(HTTP1_LOAD),
    strategy: "gradual",
    heavy: true,
  },
  {
    key: "http2",
    title: "HTTP/2, 500 requests/s on 10 connections",
    ending: "quiet",
    closesOnDrain: true,
    start: http2Load({ ...HTTP2_LOAD, protocol: "http2" }),
    heavy: true,
  },
  {
    key: "grpc",
    title: "gRPC, 500 unary calls/s on 10 connections",
    ending: "quiet",
    closesOnDrain: true,
    start: http2Load({ ...HTTP2_LOAD, protocol: "grpc" }),
    heavy: true,
  },
  {
    key: "grpcio",
    title: "gRPC by grpcio, 100 unary calls/s on 5 channels",
    ending: "quiet",
    closesOnDrain: true,
    start: grpcioClients(5, 50),
  },
  {
    key: "http3",
    title: "HTTP/3, 50 requests/s on 5 connections",
    ending: "quiet",
    closesOnDrain: true,
    start: http3Clients(5, 100),
  },
  {
    key: "each",
    title: "a new connection per request, 4/s, endpoint lag 5 s",
    ending: "quiet",
    start: http1Load({ clients: 1, paceMs: 250, lifetimeMs: () => 0 }),
    propagationMs: 5_000,
  },
  { key: "request-8", title: "one request of 8 s in flight", ending: "quiet", start: http1Request(8_000) },
  { key: "request-14", title: "one request of 14.5 s in flight", ending: "quiet", start: http1Request(14_500) },
  {
    key: "few-statistics",
    title: "one request of 8 s in flight, its statistics excluded",
    ending: "quiet",
    start: http1Request(8_000),
    fewStatistics: true,
  },
  { key: "idle-http1", title: "one idle HTTP/1.1 connection", ending: "idle", start: http1Request(1) },
  { key: "idle-http2", title: "one idle HTTP/2 connection", ending: "idle", start: http2Idle(), alsoOnNode: true },
  // A QUIC connection is not visible in the kernel's socket tables, so no quiet period follows the delay.
  { key: "idle-http3", title: "one idle HTTP/3 connection", ending: "delay", start: http3Clients(1, 0) },
  { key: "tcp-ends", title: "a TCP session that ends after 14.5 s", ending: "quiet", start: tcpSession(14_500) },
  { key: "tcp-stays", title: "a TCP session that stays open", ending: "deadline", start: tcpSession(NEVER) },
  { key: "websocket-ends", title: "a WebSocket that ends after 8 s", ending: "quiet", start: webSocket(8_000) },
  {
    key: "websocket-stays",
    title: "a WebSocket that stays open",
    ending: "deadline",
    start: webSocket(NEVER),
    ...SHORT_DEADLINE,
  },
  {
    key: "grpc-stream-ends",
    title: "a gRPC stream that ends after 8 s",
    ending: "quiet",
    start: grpcStream(500, 8_000),
  },
  {
    key: "grpc-stream-stays",
    title: "a gRPC stream that stays open",
    ending: "deadline",
    start: grpcStream(500, NEVER),
    ...SHORT_DEADLINE,
  },
  {
    key: "udp",
    title: "datagrams for 8 s, in a session that Envoy keeps for a minute",
    ending: "quiet",
    start: udpFlow(8_000),
  },
];
