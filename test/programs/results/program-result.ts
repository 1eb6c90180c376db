/** Defines the lines of `build/programs/results.json`: results of cases with real programs. */
import type { FailureKind } from "../../../src/demo/load/http-client.ts";

export type RequestTotals = {
  readonly requests: number;
  readonly failed: number;
  readonly kinds: Readonly<Record<FailureKind, number>>;
};

export type ServerResult = {
  readonly kind: "server";
  readonly system: string;
  /** With its source, such as `1.22.1 (Debian)`. */
  readonly version: string;
  readonly stopSignal: string;
  /** `image`: the program's image sets the signal; `kubelet`: the default SIGTERM. */
  readonly signalOf: "image" | "kubelet";
  readonly manager: "native" | "node";
  readonly without: RequestTotals;
  readonly with: RequestTotals;
  readonly endless: RequestTotals & { readonly outcomes: readonly string[] };
  /** The same clients with the preloaded library, which answers them with `Connection: close`. */
  readonly preload: PreloadResult;
  /** Longest time from the deletion to the stop signal, with lastcall. */
  readonly drainSeconds: number;
  readonly overWaitSeconds: number;
  readonly stopSeconds: number;
};

export type PreloadResult = RequestTotals & {
  readonly outcomes: readonly string[];
  readonly drainSeconds: number;
  readonly overWaitSeconds: number;
  /** Reason why the server does not load the library; empty where it does. */
  readonly unreached: string;
};

/** Drains of an HTTP/2 server with one client that stays connected, idle after the answer that the field names. */
export type Http2ServerResult = {
  readonly kind: "http2";
  readonly system: string;
  readonly version: string;
  readonly manager: "native" | "node";
  /** The first answer of the connection. */
  readonly first: Http2End;
  readonly later: Http2End;
  /** A later answer of 1 MiB. */
  readonly large: Http2End;
};

type Http2End = { readonly drainSeconds: number; readonly outcome: string };

/** Results of other cases, whose fields their own pages define. */
export type OtherResult = { readonly kind: string; readonly system: string };
