/** Sets the drain flag: app processes with the library of `native/preload` then close their client connections. */
import type { DrainSettings } from "../contract/drain-settings.ts";
import type { DriverWarning, FlagPage } from "./ports.ts";

/** FLAG_SOCKET of `native/preload/flag.h`. */
export const FLAG_SOCKET = "lastcall/preload/1";

export type PreloadFlag = {
  readonly set: (ports: readonly number[]) => void;
  /** Number of processes that received the memory page with the flag; -1 without preload. */
  readonly processCount: () => number;
  /** Number of processes that requested that page and did not receive it. Their clients stay connected. */
  readonly missedProcessCount: () => number;
};

export const NO_PRELOAD: PreloadFlag = { set: () => {}, processCount: () => -1, missedProcessCount: () => 0 };

export function createPreloadFlag(settings: DrainSettings, page: FlagPage, warn: DriverWarning): PreloadFlag {
  if (settings.preload === "disabled") return NO_PRELOAD;
  const errno = page.open(socketOf(settings));
  if (errno !== 0) warn("cannot set the drain flag of preloaded processes", `errno ${errno}`);
  return { set: page.signalDrain, processCount: page.deliveredCount, missedProcessCount: page.undeliveredCount };
}

/** Returns one socket name per Pod, because Pods can share a network namespace. */
function socketOf(settings: DrainSettings): string {
  return settings.addressScope === "" ? FLAG_SOCKET : `${FLAG_SOCKET}/${settings.addressScope}`;
}
