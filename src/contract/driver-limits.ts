/** What a drain with each driver cannot promise. Beside its row, because the manager has no use for the words. */
import type { DriverName } from "./driver-table.ts";

const SESSIONS =
  "Envoy can send away HTTP clients only: a TCP session, a WebSocket or an endless stream is waited for to the deadline " +
  "and cut there. Where Envoy's statistics do not show listeners and requests (a stats_matcher), the sockets decide.";

/** Where no driver sends clients away, and the preloaded library does. */
export const PRELOAD_LIMIT =
  "Clients of HTTP/1.1 are sent away by the preloaded library, with their next answer. It does not reach HTTP/2, TLS that " +
  "ends in the app, WebSockets and endless streams, nor static programs, such as most in Go: such clients are waited for " +
  "to the deadline, and one racing request per such connection can be lost when the app closes it.";

/** Of an app that is asked: while no setting says how to tell it that it drains. Of `none`: the rest of a sentence. */
export const DRIVER_LIMITS: Readonly<Record<DriverName, string>> = {
  none:
    "nothing can send a client away that keeps sending on a kept connection: the drain then waits to its deadline, " +
    "names the clients that stayed, and one racing request per such connection can be lost when the app closes it. " +
    "HTTP/2 clients, gRPC among them, look busy when they spoke last and are waited for as long. " +
    "The driver http with drain-url (the app then answers Connection: close) removes this limit.",
  envoy: SESSIONS,
  istio:
    "Only what comes in is told to drain, and a proxy with the drain strategy gradual sends away only some clients at " +
    `once: drainStrategy: immediate (which Istio's proxies are started with) sends away all. ${SESSIONS}`,
  linkerd:
    "Clients are counted at the mesh's proxy, and nothing can send them away: proxies of clients keep their connections, " +
    "so such a drain mostly waits to its deadline.",
  http:
    "drain-url is not set, so the app does not know that it drains and cannot send away a client that keeps sending on a " +
    "kept connection: one racing request per such connection can be lost when the app closes it. With drain-url the app " +
    "can answer Connection: close.",
};
