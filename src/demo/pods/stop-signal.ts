/** The signal that asks a container to stop: an image's STOPSIGNAL, or a Pod's `lifecycle.stopSignal`. Pure. */

export type StopSignal = (typeof STOP_SIGNALS)[number];

/** Those that servers stop at; the API knows the others too. */
export const STOP_SIGNALS = ["SIGTERM", "SIGQUIT", "SIGINT", "SIGUSR1", "SIGUSR2", "SIGWINCH", "SIGHUP"] as const;

export const DEFAULT_STOP_SIGNAL: StopSignal = "SIGTERM";

/** `undefined` when `text` is none of {@link STOP_SIGNALS}. */
export function stopSignalOf(text: string): StopSignal | undefined {
  return STOP_SIGNALS.find((signal) => signal === text);
}
