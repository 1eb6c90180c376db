/** Time as the relay is given it. Tests hand in their own. */

export type Clock = {
  /** Monotonic milliseconds. */
  readonly nowMs: () => number;
  /** Ends early, and without rejecting, when the signal is given. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Calls again and again until the answer is called; never keeps the process. */
  readonly every: (ms: number, call: () => void) => () => void;
};
