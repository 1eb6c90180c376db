/** Picks the driver the settings name, and says when this build has none of that name. */
import type { DrainSettings } from "../../contract/drain-settings.ts";
import { createHttpDriver } from "./http-driver.ts";

/** A driver that also says how often it dialled, so that its own connections are not taken for traffic. */
export type ManagerDriver = {
  readonly name: string;
  readonly tellDraining: (done: (failure: string) => void) => void;
  readonly countActive: (done: (active: number) => void) => void;
  /** Connections opened since the start; a running total. */
  readonly dials: () => number;
};

/** Everything is judged from the sockets. */
const NO_DRIVER: ManagerDriver = {
  name: "none",
  tellDraining: (done) => done(""),
  countActive: (done) => done(-1),
  dials: () => 0,
};

export function isKnownDriver(settings: DrainSettings): boolean {
  return settings.driver === "none" || settings.driver === "http";
}

export function driverOf(settings: DrainSettings): ManagerDriver {
  return settings.driver === "http" ? createHttpDriver(settings) : NO_DRIVER;
}
