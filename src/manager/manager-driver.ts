/** Creates the driver that the settings name. */
import { criterionOf, withoutDriver } from "../contract/criterion.ts";
import type { DrainSettings } from "../contract/drain-settings.ts";
import { createEnvoyDriver } from "./drivers/envoy/envoy-driver.ts";
import { createHttpDriver } from "./drivers/http/http-driver.ts";
import { createLinkerdDriver } from "./drivers/linkerd/linkerd-driver.ts";
import { type HttpStream, streamHttp } from "./http/http-client.ts";
import { isUnixTarget } from "./http/http-target.ts";
import { streamUnix } from "./http/http-unix.ts";
import type { Driver, DriverWarning, Libc } from "./ports.ts";

const NO_DRIVER: Driver = {
  name: "none",
  startDrain: (done) => done(""),
  countActive: (done) => done(-1, false),
  canCount: () => true,
  cancelDrain: (done) => done(""),
  dialCount: () => 0,
};

export function createDriver(settings: DrainSettings, libc: Libc, warn: DriverWarning): Driver {
  switch (settings.driver) {
    case "http":
      return createHttpDriver(settings);
    case "linkerd":
      return createLinkerdDriver(settings, httpStreamWith(libc), warn);
    case "envoy":
    case "istio":
      return createEnvoyDriver(settings, httpStreamWith(libc), warn);
    case "none":
      return NO_DRIVER;
  }
}

export function httpStreamWith(libc: Libc): HttpStream {
  return (call, onChunk, done) => {
    if (isUnixTarget(call.target)) streamUnix(libc, call, onChunk, done);
    else streamHttp(call, onChunk, done);
  };
}

/** Returns the settings with a socket-based criterion for as long as the driver cannot count. */
export function effectiveSettings(driver: Driver, settings: DrainSettings): DrainSettings {
  if (driver.canCount()) return settings;
  if (criterionOf(settings) === "clients") return withoutDriver(settings);
  if (settings.drainedWhen !== "auto") return settings;
  return { ...settings, drainedWhen: "quiet" };
}
