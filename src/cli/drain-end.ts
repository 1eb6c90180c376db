/** What ends the drain of a Pod, and what it cannot promise, by the rules of the manager of this version. */
import type { DrainSettings, DriverName } from "../contract/drain-settings.ts";

/** `none` also where the manager has no use for the driver: it then judges by the sockets. */
export function workingDriver(settings: DrainSettings): DriverName {
  return settings.driver === "linkerd" && settings.drainedWhen !== "connections" ? "none" : settings.driver;
}

export function endedBy(settings: DrainSettings): "quiet" | "connections" | "requests" | "deadline" {
  const working = workingDriver(settings);
  const counts = working === "http" ? settings.activeUrl !== "" : working !== "none";
  if (settings.drainedWhen === "auto") return counts ? "requests" : "quiet";
  const isBlind = settings.drainedWhen === "requests" && working === "none";
  return isBlind ? "quiet" : settings.drainedWhen;
}

/** `undefined` where every client is sent away. */
export function limitOf(settings: DrainSettings): string | undefined {
  const working = workingDriver(settings);
  if (working === "http") return settings.drainUrl === "" ? UNTOLD : undefined;
  if (working === "envoy") return SESSIONS;
  if (working === "istio") return `${GRADUAL} ${SESSIONS}`;
  if (working === "linkerd") return KEPT;
  return `${undrivenBecause(settings)}, ${UNDRIVEN}`;
}

function undrivenBecause(settings: DrainSettings): string {
  if (settings.driver === "none") return "No driver is set";
  return `The driver ${settings.driver} is not part of this version`;
}

const UNDRIVEN =
  "so nothing can send a client away that keeps sending on a kept connection: the drain then waits to its deadline, " +
  "names the clients that stayed, and one racing request per such connection can be lost when the app closes it. " +
  "HTTP/2 clients, gRPC among them, look busy when they spoke last and are waited for as long. " +
  "The driver http with drain-url (the app then answers Connection: close) removes this limit.";

const SESSIONS =
  "Envoy can send away HTTP clients only: a TCP session, a WebSocket or an endless stream is waited for to the deadline " +
  "and cut there. Where Envoy's statistics do not show listeners and requests (a stats_matcher), the sockets decide.";

const GRADUAL =
  "Only what comes in is told to drain, and a proxy with the drain strategy gradual sends away only some clients at once: " +
  "drainStrategy: immediate (which Istio's proxies are started with) sends away all.";

const UNTOLD =
  "drain-url is not set, so the app does not know that it drains and cannot send away a client that keeps sending on a kept connection: " +
  "one racing request per such connection can be lost when the app closes it. With drain-url the app can answer Connection: close.";

const KEPT =
  "Clients are counted at the mesh's proxy, and nothing can send them away: proxies of clients keep their connections, so such a drain " +
  "mostly waits to its deadline.";
