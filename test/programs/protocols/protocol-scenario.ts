/** Defines a scenario: one way to use a connection, run with a real server and a real client. */
import type { ProgramName } from "../install/program-table.ts";

/** `notified`: criterion `requests` with a `drain-url`, so that the app makes its clients close when the drain starts. */
export const CRITERIA = ["quiet", "connections", "requests", "notified"] as const;
export type Criterion = (typeof CRITERIA)[number];

/**
 * End of a drain. `quiet`: a quiet period after the last byte or request. `closed`: when the connection was closed.
 * `deadline`: at the deadline. `cut`: too early, while work was open or traffic went on.
 */
export type Ending = "quiet" | "closed" | "deadline" | "cut";

/** `unsure`: the end of the drain depends on the order of segments within one tick of the kernel's clock. */
export type Endings = Readonly<Record<Criterion, Ending | "unsure">>;

export type RunningScenario = {
  /** Unfinished requests, streams and sessions: the count that the app serves at its `active-url`. */
  readonly openWork: () => number;
  readonly openConnections: () => number;
  readonly lastTrafficMs: () => number;
  /** The `drain-url` was called: closes clients by the means of the protocol, such as GOAWAY. */
  readonly startDrain: () => void;
  readonly stop: () => Promise<void>;
};

export type ServerAddress = { readonly address: string; readonly port: number };

export type Scenario = {
  readonly protocol: string;
  readonly needs?: ProgramName;
  /** Completes "a client that …". */
  readonly client: string;
  /** Starts server and client; resolves at the moment at which the Pod's drain should start. */
  readonly start: (serverAddress: ServerAddress) => Promise<RunningScenario>;
  readonly endings: Endings;
};

/** Takes the endings in the order of {@link CRITERIA}. */
export function endings(quiet: Ending | "unsure", connections: Ending, requests: Ending, notified: Ending): Endings {
  return { quiet, connections, requests, notified };
}

/** Duration of a request that is in flight when the drain starts. */
export const LONG_REQUEST_MS = 2_200;
/** Far below the quiet period of the cases, even on a busy machine. */
export const SHORT_INTERVAL_MS = 100;
/** Above the quiet period of the cases. */
export const LONG_INTERVAL_MS = 2_200;

export const pause = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));
