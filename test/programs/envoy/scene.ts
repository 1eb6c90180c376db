/** One scene: what clients do before a Pod with an Envoy that is told to end, and when its drain has to end then. */
import type { Clock } from "../../../src/demo/clock.ts";
import type { CommandLine } from "../install/program-of.ts";

/** The defaults of `drain-delay`, `quiet-period` and `drain-timeout`. */
export const DELAY_MS = 5_000;
export const QUIET_MS = 2_000;
export const TIMEOUT_MS = 60_000;

/** How late the clients' side learns that the Pod is out of rotation, where a scene does not say otherwise. */
export const LAG_MS = 2_000;

/**
 * `delay`: with the drain delay. `idle`: a quiet period later, as someone is connected. `quiet`: the quiet period after
 * the last traffic. `deadline`: with the deadline, and clients that are connected is cut off.
 */
export type Ending = "delay" | "idle" | "quiet" | "deadline";

export type Scene = {
  readonly key: string;
  /** Completes "a drain with …". */
  readonly says: string;
  readonly ends: Ending;
  readonly start: (place: Place & Peers) => Promise<Clients>;
  /** Its clients never leave by themselves, and have to be gone soon after they were told. */
  readonly sentAway?: true;
  /** Whether it keeps the processor busy; such scenes run one after the other. */
  readonly heavy?: true;
  /** Annotations, without their prefix. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  readonly lagMs?: number;
  readonly strategy?: "gradual";
  readonly fewStatistics?: true;
  /** Played with the manager on Node as well. */
  readonly onNodeToo?: true;
};

export type Place = {
  readonly clock: Clock;
  readonly pod: string;
  /** Clients' own address, which is not the kubelet's. */
  readonly from: string;
  /** Who serves those that do not find the Pod any more: the upstream itself, without a proxy. */
  readonly other: string;
};

/** Python with an HTTP/3 client, and with gRPC's library. */
export type Peers = { readonly http3: CommandLine; readonly grpcio: CommandLine };

export type Clients = {
  readonly tally: Tally;
  /** The last evidence of traffic: an answer of the Pod, or the end of a session. */
  readonly lastMs: () => number;
  /** From now on no one finds the Pod any more; who is connected to it stays. */
  readonly withdraw: () => void;
  readonly stop: () => Promise<void>;
};

export type Tally = {
  answered: number;
  /** What went wrong, one entry for each request or session. */
  failures: string[];
  /** Refused by the word that says a request was not begun (HTTP/2's REFUSED_STREAM), and asked once more elsewhere. */
  refused?: number;
};

/** On the scene's clock; the trigger is the manager's first certainty that the Pod ends. */
export type DueFacts = { readonly triggeredMs: number; readonly lastMs: number };

export function dueMs({ ends, timeoutMs = TIMEOUT_MS }: Scene, { triggeredMs, lastMs }: DueFacts): number {
  switch (ends) {
    case "delay":
      return triggeredMs + DELAY_MS;
    case "idle":
      return triggeredMs + DELAY_MS + QUIET_MS;
    case "quiet":
      return Math.max(triggeredMs + DELAY_MS, lastMs + QUIET_MS);
    case "deadline":
      return triggeredMs + DELAY_MS + timeoutMs;
  }
}
