/** What ends the drain of a Pod, and what it cannot promise, by the rules of the manager of this version. */
import type { DrainSettings } from "../contract/drain-settings.ts";

/** `none` also for a driver that the manager does not have yet: it then judges by the sockets. */
export function workingDriver({ driver }: DrainSettings): "none" | "http" {
  return driver === "http" ? "http" : "none";
}

export function endedBy(settings: DrainSettings): "quiet" | "connections" | "requests" | "deadline" {
  const counts = workingDriver(settings) === "http" && settings.activeUrl !== "";
  if (settings.drainedWhen === "auto") return counts ? "requests" : "quiet";
  const isBlind = settings.drainedWhen === "requests" && workingDriver(settings) === "none";
  return isBlind ? "quiet" : settings.drainedWhen;
}

/** `undefined` where the app sends its clients away. */
export function limitOf(settings: DrainSettings): string | undefined {
  if (workingDriver(settings) === "http") return settings.drainUrl === "" ? UNTOLD : undefined;
  const first =
    settings.driver === "none" ? "No driver is set" : `The driver ${settings.driver} is not part of this version`;
  return `${first}, ${UNDRIVEN}`;
}

const UNDRIVEN =
  "so nothing can send a client away that keeps sending on a kept connection: the drain then waits to its deadline, " +
  "names the clients that stayed, and one racing request per such connection can be lost when the app closes it. " +
  "HTTP/2 clients, gRPC among them, look busy when they spoke last and are waited for as long. " +
  "The driver http with drain-url (the app then answers Connection: close) removes this limit.";

const UNTOLD =
  "drain-url is not set, so the app does not know that it drains and cannot send away a client that keeps sending on a kept connection: " +
  "one racing request per such connection can be lost when the app closes it. With drain-url the app can answer Connection: close.";
