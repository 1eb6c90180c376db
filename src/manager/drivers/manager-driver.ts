/** Picks the driver the settings name, and says when this build has none of that name. */
import type { DrainSettings } from "../../contract/drain-settings.ts";
import type { Driver, DriverNote, Libc } from "../ports.ts";
import { createEnvoyDriver } from "./envoy-driver.ts";
import { createHttpDriver } from "./http-driver.ts";
import { type HttpStream, streamHttp } from "./http-stream.ts";
import { isUnixTarget } from "./http-target.ts";
import { createLinkerdDriver } from "./linkerd-driver.ts";
import { streamUnix } from "./unix-stream.ts";

/** Everything is judged from the sockets. */
const NO_DRIVER: Driver = {
  name: "none",
  tellDraining: (done) => done(""),
  countActive: (done) => done(-1, false),
  counts: () => true,
  tellStaying: (done) => done(""),
  dials: () => 0,
};

/** Linkerd's proxy can only be asked for connections. */
export function isKnownDriver(settings: DrainSettings): boolean {
  return settings.driver !== "linkerd" || settings.drainedWhen === "connections";
}

/** What is left to do without a driver: no driver counts requests, so sockets decide. */
export function withoutDriver(settings: DrainSettings): DrainSettings {
  const drainedWhen = settings.drainedWhen === "requests" ? "quiet" : settings.drainedWhen;
  return { ...settings, driver: "none", drainedWhen };
}

/** @param libc for admin interfaces on Unix sockets */
export function driverOf(settings: DrainSettings, libc: Libc, note: DriverNote): Driver {
  if (settings.driver === "http") return createHttpDriver(settings);
  if (settings.driver === "linkerd") return createLinkerdDriver(settings, reachedBy(libc), note);
  return settings.driver === "envoy" || settings.driver === "istio"
    ? createEnvoyDriver(settings, reachedBy(libc), note)
    : NO_DRIVER;
}

export function reachedBy(libc: Libc): HttpStream {
  return (call, onChunk, done) => {
    if (isUnixTarget(call.target)) streamUnix(libc, call, onChunk, done);
    else streamHttp(call, onChunk, done);
  };
}

/** The rules of the moment: a driver that turns out to see nothing leaves `auto` to the sockets. */
export function rulesWith(driver: Driver, settings: DrainSettings): DrainSettings {
  if (driver.counts()) return settings;
  if (settings.driver === "linkerd") return withoutDriver(settings);
  if (settings.drainedWhen !== "auto") return settings;
  return { ...settings, drainedWhen: "quiet" };
}
