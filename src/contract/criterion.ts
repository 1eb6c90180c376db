/** Determines the condition that ends a drain before its deadline, for the manager and for the CLI's predictions. */
import type { DrainedWhen, DrainSettings } from "./drain-settings.ts";
import { type DriverName, driverRow } from "./driver-table.ts";

/** `drained-when` combined with the driver. `requests` and `clients` are counted by the driver. */
export type Criterion = "quiet" | "connections" | "requests" | "clients" | "deadline";

/** `auto` and `requests` become requests if the driver can count them, otherwise quiet. */
export function criterionOf(settings: DrainSettings): Criterion {
  const drainedWhen = settings.drainedWhen;
  if (drainedWhen === "connections" && driverRow(settings.driver).countedUnit === "clients") return "clients";
  if (drainedWhen !== "auto" && drainedWhen !== "requests") return drainedWhen;
  return countsRequests(settings.driver, settings.activeUrl) ? "requests" : "quiet";
}

/** @param activeUrl empty when it is not set */
export function countsRequests(driver: DriverName, activeUrl: string): boolean {
  const { countedUnit, callsApp } = driverRow(driver);
  return countedUnit === "requests" && (!callsApp || activeUrl !== "");
}

/** Whether the driver's counts end the drain. */
export function isCounted(criterion: Criterion): boolean {
  return criterion === "requests" || criterion === "clients";
}

/** Whether samples of the sockets end the drain. They have to be frequent, because traffic gets the time of the sample that shows it. */
export function usesSockets(criterion: Criterion): boolean {
  return criterion === "quiet" || criterion === "connections";
}

/** The patience is 0 for an app that shuts down gracefully. */
export function patienceMsOf(settings: DrainSettings): number {
  return settings.shutdown === "graceful" ? 0 : settings.patienceMs;
}

/** False if the driver can only count clients, and a criterion other than `clients` ends the drain. */
export function isDriverUsed(settings: DrainSettings): boolean {
  return driverRow(settings.driver).countedUnit !== "clients" || criterionOf(settings) === "clients";
}

/** Returns the settings of the same drain without its driver. */
export function withoutDriver(settings: DrainSettings): DrainSettings {
  const drainedWhen: DrainedWhen = settings.drainedWhen === "requests" ? "quiet" : settings.drainedWhen;
  return { ...settings, driver: "none", drainedWhen };
}
