/** Defines a scenario: one way to use a connection, run with a real server and a real client. */
import type { ProgramName } from "../install/program-table.ts";

/** `notified`: criterion `requests` with a `drain-url`, so that the app disconnects its clients when the drain starts. */
export const CRITERIA = ["quiet", "connections", "requests", "notified"] as const;
export type Criterion = (typeof CRITERIA)[number];

/**
 * End of a drain. `quiet`: a quiet period after the last byte or request. `closed`: after the close of the connection.
 * `deadline`: at the deadline. `cut`: too early, with open requests or sessions, or with traffic.
 */
export type Ending = "quiet" | "closed" | "deadline" | "cut";

/** `unsure`: the end of the drain depends on the order of segments within one tick of the kernel's clock. */
export type Endings = Readonly<Record<Criterion, Ending | "unsure">>;

export type RunningScenario = {
  /** Number of open requests, streams and sessions; the app serves it at its `active-url`. */
  readonly activeRequests: () => number;
  readonly openConnections: () => number;
  readonly lastTrafficMs: () => number;
  /** Handles a request to the `drain-url`: disconnects clients as the protocol defines, for example with GOAWAY. */
  readonly startDrain: () => void;
  readonly stop: () => Promise<void>;
};

export type ServerAddress = { readonly address: string; readonly port: number };

export type Scenario = {
  readonly protocol: string;
  readonly requiredProgram?: ProgramName;
  /** Verb phrase that completes the words "a client that …". */
  readonly behaviour: string;
  /** Starts the server and the client; resolves when the Pod's drain should start. */
  readonly start: (serverAddress: ServerAddress) => Promise<RunningScenario>;
  readonly endings: Endings;
};

/** The parameters are in the order of {@link CRITERIA}. */
export function endings(quiet: Ending | "unsure", connections: Ending, requests: Ending, notified: Ending): Endings {
  return { quiet, connections, requests, notified };
}

/** Duration of a request that is in flight when the drain starts. */
export const LONG_REQUEST_MS = 2_200;
/** Much shorter than the quiet period of the cases, even on a busy machine. */
export const SHORT_INTERVAL_MS = 100;
/** Longer than the quiet period of the cases. */
export const LONG_INTERVAL_MS = 2_200;

export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
