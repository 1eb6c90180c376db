/** Function types for the manager's dependencies. Tests pass plain functions. */
import type { Server } from "node:http";
import type { Socket } from "node:net";

/**
 * Calls of libc with their C signatures. The native build binds them directly, Node by an FFI package. If `available` is false,
 * `/proc/net` is read.
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

/** Closes unauthenticated connections of a server. Separate from `Libc`, because runtimes hide the descriptors of their sockets. */
export type PortGuard = {
  /**
   * Call it before the server listens.
   *
   * @param path common prefix of all request paths
   * @returns false without support for TCP_DEFER_ACCEPT
   */
  readonly prepare: (path: string) => boolean;
  /** Call it when the server listens. */
  readonly attach: (server: Server) => void;
  /** Whether an accepted connection may stay. The native runtime filters them itself. */
  readonly admits: (socket: Socket) => boolean;
  /** Total of connections closed before they reached the server. */
  readonly closed: () => number;
};

/** A shared memory page that signals the drain to preloaded processes (`native/preload`), and the socket that serves it. */
export type FlagPage = {
  /**
   * @param socket abstract name without the leading zero byte
   * @returns 0, or errno
   */
  readonly open: (socket: string) => number;
  /**
   * Processes with the page add `Connection: close` to their next responses. Cannot be reverted.
   *
   * @param ports local ports of the clients; only the first 64 are used
   */
  readonly close: (ports: readonly number[]) => void;
  /** Total of processes that received the page. */
  readonly given: () => number;
  /** Total of processes that requested it in vain; the kernel limits descriptors in flight. */
  readonly missed: () => number;
};

/** Monotonic milliseconds. */
export type NowMs = () => number;

export type ReadText = (path: string) => string | undefined;

/**
 * Reads a long file of /proc in pieces of any size.
 *
 * @param take receives a piece; returns false when no more are needed
 * @returns `broken` if reading failed, `missing` if the file does not exist
 */
export type ScanText = (path: string, take: (piece: string) => boolean) => "read" | "broken" | "missing";

/** Instead of a count: no program answered; a proxy may be starting. */
export const NOT_ANSWERED = -2;

/** Controls a proxy or app that can drain itself. Each callback is called exactly once, within the driver's time limit. */
export type Driver = {
  readonly name: string;
  /** Called once, when draining starts. `failure` is empty on success. */
  readonly startDrain: (done: (failure: string) => void) => void;
  /**
   * `active`: number of active requests; if unknown, -1 or {@link NOT_ANSWERED}. `moved`: other requests came and went since the last
   * count.
   */
  readonly countActive: (done: (active: number, moved: boolean) => void) => void;
  readonly counts: () => boolean;
  /** Reverts the drain as far as possible, for a Pod that stays. `failure` as above. */
  readonly cancelDrain: (done: (failure: string) => void) => void;
  /** Total of connections opened by the driver, which are not traffic. */
  readonly dials: () => number;
};

/** `message` is constant, `detail` specific. */
export type DriverWarning = (message: string, detail: string) => void;

export type RelayEndpoint = {
  /** A canonical IP address; empty without a relay. */
  readonly address: string;
  readonly port: number;
};
