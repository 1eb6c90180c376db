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
  /** Version with its source, such as `1.22.1 (Debian)`. */
  readonly version: string;
  readonly stopSignal: string;
  /** `image`: the program's image sets the signal; `kubelet`: the default SIGTERM. */
  readonly signalOf: "image" | "kubelet";
  readonly manager: "native" | "node";
  readonly without: RequestTotals;
  readonly with: RequestTotals;
  /** Requests of the rollout without lastcall and with `preStop: sleep 5`. */
  readonly sleep: RequestTotals;
  /** Requests of the rollout with lastcall, by clients that never close their connections. */
  readonly endless: RequestTotals & {
    readonly outcomes: readonly string[];
    readonly drainSeconds: number;
    readonly overWaitSeconds: number;
  };
  /** Requests of the rollout without lastcall and with `preStop: sleep 5`, by the clients of `endless`. */
  readonly endlessSleep: RequestTotals;
  /** Requests of the rollout with lastcall and its preload library, by the clients of `endless`. */
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
  /** Reason why the server does not load the library; empty if it loads the library. */
  readonly unreached: string;
};

/**
 * Drains of an HTTP/2 server whose client is idle but stays connected. The drains differ in the number
 * of responses that the client received before, and in the size of the last one.
 */
export type Http2ServerResult = {
  readonly kind: "http2";
  readonly system: string;
  readonly version: string;
  readonly manager: "native" | "node";
  /** The drain after the client received one response. */
  readonly first: Http2End;
  /** The drain after the client received more than one response. */
  readonly later: Http2End;
  /** The drain after the client received more than one response, the last with 1 MiB. */
  readonly large: Http2End;
};

type Http2End = { readonly drainSeconds: number; readonly outcome: string };

/** Common fields of all results; each kind of case defines its other fields. */
export type OtherResult = { readonly kind: string; readonly system: string };
