/** One line of `build/programs/results.json`: what a case against a real program measured. */
import type { FailureKind } from "../../../src/demo/load/http-client.ts";

export type Counted = {
  readonly requests: number;
  readonly failed: number;
  readonly kinds: Readonly<Record<FailureKind, number>>;
};

/** A rolling update of a server without a driver. */
export type ServerResult = {
  readonly kind: "server";
  readonly system: string;
  /** With its source, such as `1.22.1 (Debian)`. */
  readonly version: string;
  readonly stopSignal: string;
  /** Who chose the signal: the program's image, or no one, so that it is the kubelet's SIGTERM. */
  readonly signalOf: "image" | "kubelet";
  /** Which build of the manager drained. */
  readonly manager: "native" | "node";
  readonly without: Counted;
  readonly with: Counted;
  /** With lastcall and clients that never leave. */
  readonly endless: Counted & { readonly outcomes: readonly string[] };
  /** The same clients, and the preloaded library that tells them to leave. */
  readonly preload: PreloadResult;
  /** The longest from the deletion to the stop signal, with lastcall, */
  readonly drainSeconds: number;
  /** how much later than necessary that was, */
  readonly overWaitSeconds: number;
  /** and from there to the end of the program. */
  readonly stopSeconds: number;
};

export type PreloadResult = Counted & {
  readonly outcomes: readonly string[];
  readonly drainSeconds: number;
  readonly overWaitSeconds: number;
  /** Why the library is not in the server; empty where it is. */
  readonly unreached: string;
};

/** A Pod of an HTTP/2 server, ended while one client stayed connected that was idle after this answer. */
export type Http2ServerResult = {
  readonly kind: "http2";
  readonly system: string;
  readonly version: string;
  readonly manager: "native" | "node";
  /** The first since it connected. */
  readonly first: Http2End;
  readonly later: Http2End;
  /** A later one, of 1 MiB. */
  readonly large: Http2End;
};

type Http2End = { readonly drainSeconds: number; readonly outcome: string };

/** What other cases measured; their own tables know their fields. */
export type OtherResult = { readonly kind: string; readonly system: string };
