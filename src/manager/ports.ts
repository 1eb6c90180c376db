/** Function types of the manager's external dependencies. */
import type { Server } from "node:http";
import type { Socket } from "node:net";

/**
 * Functions of libc with their C signatures. The native build calls libc directly, Node by an FFI package. If `available` is
 * false, the manager reads `/proc/net` instead of netlink.
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

/** Closes unauthenticated connections of a server. Separate from `Libc`, because Node and the native runtime hide socket descriptors. */
export type PortGuard = {
  /**
   * Has to be called before the server listens.
   *
   * @param path common prefix of all request paths
   * @returns false if the kernel does not support TCP_DEFER_ACCEPT
   */
  readonly prepare: (path: string) => boolean;
  /** Has to be called once the server listens. */
  readonly attach: (server: Server) => void;
  /** Whether the server may read an accepted connection. Always true in the native build, whose runtime filters connections. */
  readonly admits: (socket: Socket) => boolean;
  /** Number of connections since the start that were closed before they reached the server. */
  readonly closedCount: () => number;
};

/** A shared memory page that signals the drain to preloaded processes (`native/preload`), and the socket that serves it. */
export type FlagPage = {
  /**
   * @param socket name of the abstract Unix socket, without the leading zero byte
   * @returns 0, or errno
   */
  readonly open: (socket: string) => number;
  /**
   * Sets the drain flag: preloaded processes add `Connection: close` to their next responses. The flag cannot be reset.
   *
   * @param ports server ports whose responses get the header; only the first 64 are used
   */
  readonly signalDrain: (ports: readonly number[]) => void;
  /** Number of processes that received the page. */
  readonly deliveredCount: () => number;
  /** Number of processes that requested the page and did not receive it: the kernel limits the descriptors that are being passed. */
  readonly undeliveredCount: () => number;
};

/** Monotonic milliseconds. */
export type NowMs = () => number;

export type ReadText = (path: string) => string | undefined;

/**
 * Reads a long file of /proc in pieces of any size.
 *
 * @param onPiece receives a piece; returns false to stop reading
 * @returns `broken` if reading failed, `missing` if the file does not exist
 */
export type ScanText = (path: string, onPiece: (piece: string) => boolean) => "read" | "broken" | "missing";

/** Replaces a count if no program responded, for example because the proxy is starting. */
export const NO_RESPONSE = -2;

/** Controls a proxy or app that can drain itself. A driver calls each callback exactly once, within its time limit. */
export type Driver = {
  readonly name: string;
  /** Called once, at the start of the draining phase. `failure` is empty on success. */
  readonly startDrain: (done: (failure: string) => void) => void;
  /**
   * `active`: number of active requests; -1 if the response does not have a usable count, {@link NO_RESPONSE} if there was no response.
   * `hadTraffic`: whether a request started or ended since the last count.
   */
  readonly countActive: (done: (active: number, hadTraffic: boolean) => void) => void;
  /** False if samples of the sockets have to replace the driver's counts. */
  readonly canCount: () => boolean;
  /** Reverts the drain as far as possible, because the Pod was not deleted. `failure` is empty on success. */
  readonly cancelDrain: (done: (failure: string) => void) => void;
  /** Number of connections that the driver has opened; they are not traffic. */
  readonly dialCount: () => number;
};

/** `message` is a constant text; `detail` contains the values. */
export type DriverWarning = (message: string, detail: string) => void;

export type RelayEndpoint = {
  /** A canonical IP address; empty if no relay is configured. */
  readonly address: string;
  readonly port: number;
};
