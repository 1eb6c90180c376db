/** Tells the app's own processes, where they loaded the library of `native/preload`, to send their clients away. */
import type { DrainSettings } from "../contract/drain-settings.ts";
import type { DriverWarning, FlagPage } from "./ports.ts";

/** `native/preload/flag.h`. */
export const FLAG_SOCKET = "lastcall/preload/1";

export type Farewell = {
  /** Clients of these ports are sent away with their next answer. Once a Pod. */
  readonly say: (ports: readonly number[]) => void;
  /** How many processes have the page, those that have ended included; -1 where none can ask. */
  readonly processes: () => number;
  /** How many asked and could not be given it: their clients are waited for. */
  readonly missed: () => number;
};

/** For Pods that did not ask for it: their network has no such socket. */
export const NO_FAREWELL: Farewell = { say: () => {}, processes: () => -1, missed: () => 0 };

export function createFarewell(settings: DrainSettings, page: FlagPage, warn: DriverWarning): Farewell {
  if (settings.preload === "disabled") return NO_FAREWELL;
  const failure = page.open(socketOf(settings));
  if (failure !== 0) warn("processes cannot be told to send clients away", `the system's error ${failure}`);
  return { say: page.close, processes: page.given, missed: page.missed };
}

/** Pods that share a network namespace have a name each. */
function socketOf(settings: DrainSettings): string {
  return settings.addressScope === "" ? FLAG_SOCKET : `${FLAG_SOCKET}/${settings.addressScope}`;
}
