/** Sets the flag on which the app's processes, if they loaded the library of `native/preload`, close client connections. */
import type { DrainSettings } from "../contract/drain-settings.ts";
import type { DriverWarning, FlagPage } from "./ports.ts";

/** `native/preload/flag.h`. */
export const FLAG_SOCKET = "lastcall/preload/1";

export type PreloadFlag = {
  readonly set: (ports: readonly number[]) => void;
  readonly processes: () => number;
  /** Processes that requested it in vain; the drain waits for their clients. */
  readonly missed: () => number;
};

export const NO_PRELOAD: PreloadFlag = { set: () => {}, processes: () => -1, missed: () => 0 };

export function createPreloadFlag(settings: DrainSettings, page: FlagPage, warn: DriverWarning): PreloadFlag {
  if (settings.preload === "disabled") return NO_PRELOAD;
  const failure = page.open(socketOf(settings));
  if (failure !== 0) warn("cannot set the drain flag of preloaded processes", `errno ${failure}`);
  return { set: page.close, processes: page.given, missed: page.missed };
}

/** One name per Pod, since Pods can share a network namespace. */
function socketOf(settings: DrainSettings): string {
  return settings.addressScope === "" ? FLAG_SOCKET : `${FLAG_SOCKET}/${settings.addressScope}`;
}
