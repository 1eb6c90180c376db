/** What the manager needs from outside, as function types. Tests pass plain functions. */

/**
 * The C library calls behind socket diagnostics, with C's signatures. The native build binds them to libc directly;
 * under Node an FFI package supplies them; where neither works `available` is false and `/proc/net` is read.
 */
export type Libc = {
  readonly available: boolean;
  readonly socket: (domain: number, type: number, protocol: number) => number;
  readonly send: (fd: number, bytes: Uint8Array, flags: number) => number;
  readonly recv: (fd: number, bytes: Uint8Array, flags: number) => number;
  readonly connect: (fd: number, address: Uint8Array) => number;
  readonly setsockopt: (fd: number, level: number, name: number, value: Uint8Array) => number;
  readonly close: (fd: number) => number;
};

/** Monotonic milliseconds from an arbitrary start. Never the wall clock: that one jumps. */
export type NowMs = () => number;

/** A whole small file of /proc, or undefined when it cannot be read. */
export type ReadText = (path: string) => string | undefined;

/** Instead of a count: nobody was there, or nobody was ready. A proxy may be starting. */
export const NOT_ANSWERED = -2;

/** Speaks to a proxy or app that can drain itself. Callbacks are always called exactly once, within the driver's own time limit. */
export type Driver = {
  readonly name: string;
  /** Told once, when draining starts. `failure` is empty on success, else a sentence for the log. */
  readonly tellDraining: (done: (failure: string) => void) => void;
  /**
   * Active requests now; below 0 when unknown (unknown is never zero): -1 or {@link NOT_ANSWERED}. `moved`: others came and went since the last count,
   * as far as the driver can tell.
   */
  readonly countActive: (done: (active: number, moved: boolean) => void) => void;
  /** False while it does not count: the sockets decide then. Only a proxy that comes back after all changes it again. */
  readonly counts: () => boolean;
  /** The drain is over and the Pod stays after all: takes back what can be taken back. `failure` as above. */
  readonly tellStaying: (done: (failure: string) => void) => void;
  /** Connections opened since the start, a running total: they are not to be taken for traffic. */
  readonly dials: () => number;
};

/** What a driver has to say besides: a constant sentence, and what it is about. */
export type DriverNote = (message: string, detail: string) => void;
