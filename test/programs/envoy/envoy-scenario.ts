/** Defines a scenario: clients of a Pod with an Envoy, and the moment at which the Pod's drain has to end. */
import type { Clock } from "../../../src/demo/clock.ts";
import type { CommandLine } from "../install/program-of.ts";

/** The defaults of `drain-delay`, `quiet-period` and `drain-timeout`. */
export const DELAY_MS = 5_000;
export const QUIET_MS = 2_000;
export const TIMEOUT_MS = 60_000;

/** Default time from the deletion until new connections no longer reach the Pod. */
export const PROPAGATION_MS = 2_000;

/**
 * Expected end of the drain. `delay`: after the drain delay. `idle`: a quiet period after the drain delay, because an idle
 * client is connected. `quiet`: a quiet period after the last traffic. `deadline`: at the deadline, with clients still connected.
 */
export type Ending = "delay" | "idle" | "quiet" | "deadline";

export type Scenario = {
  readonly key: string;
  /** Noun phrase that completes the sentence "a drain with …". */
  readonly title: string;
  readonly ending: Ending;
  readonly start: (environment: ClientEnvironment & Peers) => Promise<Clients>;
  /** Clients close their connections only after `Connection: close` or GOAWAY, and have to close them soon after the drain delay. */
  readonly closesOnDrain?: true;
  /** The scenario keeps the processor busy; heavy scenarios run one after the other. */
  readonly heavy?: true;
  readonly settings?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  readonly propagationMs?: number;
  readonly strategy?: "gradual";
  readonly fewStatistics?: true;
  readonly alsoOnNode?: true;
};

export type ClientEnvironment = {
  readonly clock: Clock;
  readonly pod: string;
  readonly sourceAddress: string;
  /** Address of the upstream; after the withdrawal clients connect to it directly. */
  readonly upstream: string;
};

export type Peers = { readonly http3: CommandLine; readonly grpcio: CommandLine };

export type Clients = {
  readonly counts: ClientCounts;
  /** Time of the Pod's last response or of the end of its last session, whichever is later. */
  readonly lastTrafficMs: () => number;
  /** Makes clients open new connections to the upstream instead of the Pod; open connections stay. */
  readonly withdraw: () => void;
  readonly stop: () => Promise<void>;
};

export type ClientCounts = {
  answered: number;
  failures: string[];
  /** Requests refused with REFUSED_STREAM, each retried once on another connection. */
  refused?: number;
};

export type DueFacts = { readonly triggeredMs: number; readonly lastTrafficMs: number };

export function dueMs({ ending, timeoutMs = TIMEOUT_MS }: Scenario, { triggeredMs, lastTrafficMs }: DueFacts): number {
  switch (ending) {
    case "delay":
      return triggeredMs + DELAY_MS;
    case "idle":
      return triggeredMs + DELAY_MS + QUIET_MS;
    case "quiet":
      return Math.max(triggeredMs + DELAY_MS, lastTrafficMs + QUIET_MS);
    case "deadline":
      return triggeredMs + DELAY_MS + timeoutMs;
  }
}
