/** Picks the driver the settings name, and says when this build has none of that name. */
import type { DrainSettings } from "../../contract/drain-settings.ts";
import type { Driver } from "../ports.ts";
import { createHttpDriver } from "./http-driver.ts";

/** Everything is judged from the sockets. */
const NO_DRIVER: Driver = {
  name: "none",
  tellDraining: (done) => done(""),
  countActive: (done) => done(-1),
  dials: () => 0,
};

export function isKnownDriver(settings: DrainSettings): boolean {
  return settings.driver === "none" || settings.driver === "http";
}

/** What is left to do without a driver: nobody counts requests, so sockets decide. */
export function withoutDriver(settings: DrainSettings): DrainSettings {
  const drainedWhen = settings.drainedWhen === "requests" ? "quiet" : settings.drainedWhen;
  return { ...settings, driver: "none", drainedWhen };
}

export function driverOf(settings: DrainSettings): Driver {
  return settings.driver === "http" ? createHttpDriver(settings) : NO_DRIVER;
}
