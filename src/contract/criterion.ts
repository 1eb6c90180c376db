/** What ends a drain before its deadline, for the manager that obeys it and for those who say beforehand what it will do. */
import type { DrainedWhen, DrainSettings } from "./drain-settings.ts";
import { type DriverName, driverRow } from "./driver-table.ts";

/** What `drained-when` comes to with the driver of the settings. `requests` and `clients` are counted by it. */
export type Criterion = "quiet" | "connections" | "requests" | "clients" | "deadline";

/** `auto` and `requests` are requests where the driver can count them, else quiet. */
export function criterionOf(settings: DrainSettings): Criterion {
  const wanted = settings.drainedWhen;
  if (wanted === "connections" && driverRow(settings.driver).counted === "clients") return "clients";
  if (wanted !== "auto" && wanted !== "requests") return wanted;
  return countsRequests(settings.driver, settings.activeUrl) ? "requests" : "quiet";
}

/** @param activeUrl where an app would be asked; empty when it is not set */
export function countsRequests(driver: DriverName, activeUrl: string): boolean {
  const { counted, asksApp } = driverRow(driver);
  return counted === "requests" && (!asksApp || activeUrl !== "");
}

/** The counts of the driver end the drain, else looks at the sockets do. */
export function isCounted(criterion: Criterion): boolean {
  return criterion === "requests" || criterion === "clients";
}

/** Judged by looks at the sockets, which have to be dense to date the last traffic. */
export function watchesSockets(criterion: Criterion): boolean {
  return criterion === "quiet" || criterion === "connections";
}

/** A driver that counts clients has nothing else to do. */
export function isDriverOfUse(settings: DrainSettings): boolean {
  return driverRow(settings.driver).counted !== "clients" || criterionOf(settings) === "clients";
}

/** What is left to do without a driver: no driver counts requests, so sockets decide. */
export function withoutDriver(settings: DrainSettings): DrainSettings {
  const drainedWhen: DrainedWhen = settings.drainedWhen === "requests" ? "quiet" : settings.drainedWhen;
  return { ...settings, driver: "none", drainedWhen };
}
