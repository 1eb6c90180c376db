/** What a drain with the settings of a Pod cannot promise, in words. */
import { isDriverOfUse } from "../contract/criterion.ts";
import type { DrainSettings } from "../contract/drain-settings.ts";
import { DRIVER_LIMITS, PRELOAD_LIMIT } from "../contract/driver-limits.ts";
import { type DriverName, driverRow } from "../contract/driver-table.ts";

/** `none` also where the manager has no use for the driver: sockets decide then. */
export function workingDriver(settings: DrainSettings): DriverName {
  return isDriverOfUse(settings) ? settings.driver : "none";
}

/** `undefined` where every client is sent away. */
export function limitOf(settings: DrainSettings): string | undefined {
  const { name, counted, asksApp } = driverRow(workingDriver(settings));
  if (asksApp && settings.drainUrl !== "") return undefined;
  if (counted === "nothing" && settings.preload !== "disabled") return PRELOAD_LIMIT;
  const limit = DRIVER_LIMITS[name];
  return counted === "nothing" ? `${whyUndriven(settings)}, so ${limit}` : limit;
}

function whyUndriven(settings: DrainSettings): string {
  return isDriverOfUse(settings)
    ? "No driver is set"
    : `The driver ${settings.driver} only counts clients, which drained-when: connections asks for`;
}
