/**
 * Describes the limits of a drain with each driver, for pages and the CLI. Separate from the driver table, because that table is compiled
 * into the manager.
 */
import type { DriverName } from "./driver-table.ts";

const ENVOY_LIMIT =
  "Envoy drains HTTP connections only: a drain waits for TCP sessions, WebSockets and endless streams until its " +
  "deadline and then cuts them. If Envoy's statistics lack listeners and requests (stats_matcher), samples of the sockets determine the end of the drain.";

/** For drains without a driver and with the preload library. */
export const PRELOAD_LIMIT =
  "The preload library adds Connection: close to the next HTTP/1.1 response of each client. It has no effect on HTTP/2, " +
  "TLS terminated by the app, WebSockets, endless streams and statically linked programs, such as most in Go. The drain waits for " +
  "such clients as it does without the library, and one request per connection can be lost if it arrives while the app closes the connection.";

/** For drains without a driver and without patience. Completes a sentence. */
export const GRACEFUL_LIMIT =
  "only the app's own shutdown closes a keep-alive connection on which a client keeps sending: a request can be lost if the app does " +
  "not finish it. HTTP/2 connections, including gRPC, count as busy while the client was the last to send data.";

/** The text of `http` applies while `drain-url` is not set; that of `none` completes a sentence. */
export const DRIVER_LIMITS: Readonly<Record<DriverName, string>> = {
  none:
    "nothing can close a keep-alive connection on which a client keeps sending: the drain waits for such clients until the end of " +
    "the patience, and one request per connection can be lost if it arrives while the app closes the connection. HTTP/2 connections, including gRPC, count as busy while the client was the last to send data. The driver http with drain-url " +
    "(the app then sends Connection: close in its responses) closes such connections during the drain.",
  envoy: ENVOY_LIMIT,
  istio:
    "Only inbound listeners drain. With drainStrategy: gradual a proxy closes its connections over time; with " +
    `drainStrategy: immediate, the default of Istio's proxies, it closes all of them immediately. ${ENVOY_LIMIT}`,
  linkerd:
    "Linkerd's proxy counts connected clients and cannot close their connections: the clients' own proxies keep them open, so the " +
    "drain usually waits until its deadline.",
  http:
    "drain-url is not set, so the app is not notified and keeps connections open on which clients keep sending: one " +
    "request per connection can be lost if it arrives while the app closes the connection. With drain-url the app can send Connection: close in its responses.",
};
