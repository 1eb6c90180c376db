/** What a scene is: one way in which clients use a connection, played by a real server and a real client. */
import type { ProgramName } from "../install/program-table.ts";

/** `told`: the app counts its requests, and sends its clients away once it is told that the Pod drains. */
export const CRITERIA = ["quiet", "connections", "requests", "told"] as const;
export type Criterion = (typeof CRITERIA)[number];

/**
 * When a drain let go.
 * `quiet`: a quiet period after the last byte or request. `closed`: when the connection was closed. `deadline`: at the
 * deadline. `cut`: earlier than it should, while work was open or traffic went on.
 */
export type Ending = "quiet" | "closed" | "deadline" | "cut";

/** `unsure`: the end of the drain hangs on the order of segments within one tick of the kernel's clock. */
export type Endings = Readonly<Record<Criterion, Ending | "unsure">>;

/** A scene that is being played. */
export type Play = {
  /** Requests, streams and sessions the server has not finished: what an app that counts would tell. */
  readonly openWork: () => number;
  readonly openConnections: () => number;
  /** On the clock of `performance.now()`. */
  readonly lastTrafficMs: () => number;
  /** The app was told to drain: it says goodbye in the words of its protocol, as far as there are any. */
  readonly sendAway: () => void;
  /** Ends client and server. */
  readonly end: () => Promise<void>;
};

/** Where the scene is served. */
export type Place = { readonly address: string; readonly port: number };

export type Scene = {
  readonly protocol: string;
  /** What has to be installed first. */
  readonly needs?: ProgramName;
  /** What the client does, as a user would say it. */
  readonly client: string;
  /** Serves there; resolves at the moment at which the Pod should be told to end. */
  readonly play: (place: Place) => Promise<Play>;
  readonly endings: Endings;
};

/** Short for tables of scenes, in the order of {@link CRITERIA}. */
export function endings(quiet: Ending | "unsure", connections: Ending, requests: Ending, told: Ending): Endings {
  return { quiet, connections, requests, told };
}

/** How long an answer takes that is still being worked on when the Pod is told to end. */
export const LONG_MS = 2_200;
/** Shorter than the quiet period of the cases by so much that a busy machine keeps it so. */
export const OFTEN_MS = 100;
/** Longer than the quiet period of the cases. */
export const SELDOM_MS = 2_200;

export const pause = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));
