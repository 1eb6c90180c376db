/** The report of a drain, in `GET /<token>/status`, the final log line, and the report to the relay. */

export type PhaseName = "idle" | "withdrawing" | "draining" | "holding" | "done";

/** `none`: no drain has ended. `blind`: the drain could not observe whether traffic had ended. */
export type DrainOutcome = "none" | "drained" | "blind" | "timeout" | "not-needed" | "restarted" | "forced";

export type DrainTrigger = "none" | "hook" | "relay" | "sigterm";

/** One connection that was still open when the drain ended. */
export type OpenConnection = {
  /** `address:port`, IPv6 in brackets. */
  readonly local: string;
  readonly peer: string;
  /** Since the drain first sampled the connection; 0 when unknown. */
  readonly ageMs: number;
  readonly state: string;
};

export type PhaseDurations = {
  readonly withdrawing: number;
  readonly deregistration: number;
  readonly draining: number;
  readonly holding: number;
};

/** What is known of the clients that were to be sent away by the app's own answers. `left` says who stayed. */
export type PreloadReport = {
  /** Processes that loaded the library and got the manager's page, since the manager's start. */
  readonly processes: number;
  /** Processes that asked for the page and did not get it: the drain waits for their clients. Older managers omit it. */
  readonly missed?: number | undefined;
  /** Connections that were open when their processes were told; -1 before, and where they could not be seen. */
  readonly connections: number;
};

export type DrainReport = {
  readonly version: 1;
  readonly phase: PhaseName;
  readonly outcome: DrainOutcome;
  readonly trigger: DrainTrigger;
  readonly milliseconds: PhaseDurations;
  /** At most {@link LEFT_LIMIT}. */
  readonly left: readonly OpenConnection[];
  readonly leftTotal: number;
  /**
   * Connections, open or just ended, beyond the {@link TRACKED_LIMIT} that a manager remembers: it counts them, and
   * never takes them for quiet. Left out where there are none.
   */
  readonly untracked?: number | undefined;
  /** Left out where the Pod's processes cannot be told to send their clients away (`preload`). */
  readonly preload?: PreloadReport | undefined;
  /** Which observation decided: `netlink`, `proc`, `driver`, `passive-opens`, `tie`, `too-many`, `none`. */
  readonly evidenceSource: string;
  /** One sentence that explains the duration of the drain. */
  readonly why: string;
  /**
   * What the relay knew when the withdrawing phase ended: `none` (there is none, or it was not asked), `withdrawn`,
   * `offered` (slices still offered the ending Pod at the deadline), `still_in_rotation` (slices never said that the Pod
   * ends: its kubelet stopped it alone), or `unknown: ` and why, at most 200 characters in all. Managers that know
   * no relay leave it out, like the next one.
   */
  readonly relay?: string;
  /** From the trigger until the relay knew the Pod out of rotation; 0 when it was before, -1 when it never knew. */
  readonly withdrawnAfterMs?: number;
};

/** Enough to identify clients that stay. */
export const LEFT_LIMIT = 20;

/** Connections that a manager follows one by one: 6.3 MB, which leaves room in the 16Mi that it may have. */
export const TRACKED_LIMIT = 131_072;
