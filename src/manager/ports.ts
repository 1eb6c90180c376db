/** What the manager needs from outside, as function types. Tests pass plain functions. */
import type { Server } from "node:http";
import type { Socket } from "node:net";

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

/** Keeps strangers from a server. It is a port of its own, since a runtime keeps its sockets' numbers to itself. */
export type PortGuard = {
  /**
   * Before the server listens.
   *
   * @param path what the path of every request begins with
   * @returns false where the kernel hands on connections that have sent nothing
   */
  readonly prepare: (path: string) => boolean;
  /** The server listens. */
  readonly attach: (server: Server) => void;
  /** Whether a connection that was just accepted may stay. The native runtime shows the server no other. */
  readonly admits: (socket: Socket) => boolean;
  /** Connections that were accepted and closed before the server heard of them; a running total. */
  readonly closed: () => number;
};

/** The page by which processes of the Pod learn that it drains (`native/preload`), and the socket where they ask for it. */
export type FlagPage = {
  /**
   * @param socket the abstract name where processes ask, without the leading zero byte
   * @returns 0, or the system's error number
   */
  readonly open: (socket: string) => number;
  /**
   * The next answers of processes that have the page send their clients away. Once: a process remembers what it has read
   * since, so it is never taken back.
   *
   * @param ports of these clients; those behind the 64th are not told
   */
  readonly close: (ports: readonly number[]) => void;
  /** Processes that have got the page; a running total. */
  readonly given: () => number;
  /** Processes that asked and could not be given it; a running total. The kernel bounds descriptors that are under way. */
  readonly missed: () => number;
};

/** Monotonic milliseconds from an arbitrary start. Never the wall clock: that one jumps. */
export type NowMs = () => number;

/** A whole small file of /proc, or undefined when it cannot be read. */
export type ReadText = (path: string) => string | undefined;

/**
 * A file of /proc that may be long, in pieces wherever they are cut; no more than one of them is in memory.
 *
 * @param take gets a piece; false when it has enough
 * @returns `broken` where the reading failed on the way, `missing` where there is no such file
 */
export type ScanText = (path: string, take: (piece: string) => boolean) => "read" | "broken" | "missing";

/** Instead of a count: no program was there, or none was ready. A proxy may be starting. */
export const NOT_ANSWERED = -2;

/** Speaks to a proxy or app that can drain itself. Callbacks are always called exactly once, within the driver's own time limit. */
export type Driver = {
  readonly name: string;
  /** Told once, when draining starts. `failure` is empty on success, else a sentence for the log. */
  readonly startDrain: (done: (failure: string) => void) => void;
  /**
   * Active requests now; below 0 when unknown (unknown is never zero): -1 or {@link NOT_ANSWERED}. `moved`: others came and went since the last count,
   * as far as the driver can tell.
   */
  readonly countActive: (done: (active: number, moved: boolean) => void) => void;
  /** False while it does not count: the sockets decide then. Only a proxy that comes back after all changes it again. */
  readonly counts: () => boolean;
  /** The drain is over and the Pod stays after all: takes back what can be taken back. `failure` as above. */
  readonly cancelDrain: (done: (failure: string) => void) => void;
  /** Connections opened since the start, a running total: they are not to be taken for traffic. */
  readonly dials: () => number;
};

/** What a driver has to say besides: a constant sentence, and what it is about. */
export type DriverWarning = (message: string, detail: string) => void;

export type RelayEndpoint = {
  /** An IP address as the kernel's tables show it; empty where there is no relay. */
  readonly address: string;
  readonly port: number;
};
