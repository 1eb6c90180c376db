/** Defines the report of a drain, in `GET /<token>/status`, the final log line, and the report to the relay. */

export type PhaseName = "idle" | "withdrawing" | "draining" | "holding" | "done";

/**
 * `none`: no drain has ended. `handed-over`: only connections that keep completing requests were left, so the app was stopped.
 * `blind`: the drain could not observe whether traffic had ended.
 */
export type DrainOutcome =
  | "none"
  | "drained"
  | "handed-over"
  | "blind"
  | "timeout"
  | "not-needed"
  | "restarted"
  | "forced";

export type DrainTrigger = "none" | "hook" | "relay" | "sigterm";

/** One connection that was still open when the drain ended. */
export type OpenConnection = {
  /** `address:port`, IPv6 in brackets. */
  readonly local: string;
  readonly peer: string;
  /** Time since the drain first sampled the connection; 0 when unknown. */
  readonly ageMs: number;
  readonly state: string;
};

export type PhaseDurations = {
  readonly withdrawing: number;
  readonly deregistration: number;
  readonly draining: number;
  readonly holding: number;
};

/** Processes with the preload library, and their connections. {@link DrainReport.left} lists those that were still open at the end. */
export type PreloadReport = {
  /** Number of processes that received the memory page with the drain flag from this manager. */
  readonly processes: number;
  /** Processes that requested the page but did not receive it, so the drain waits for their clients. Older managers omit this field. */
  readonly missed?: number | undefined;
  /** Open connections when the manager set the drain flag; -1 before that, or if the sample failed. */
  readonly connections: number;
};

/**
 * Connections of the Pod's network namespace that were reset, refused or dropped, as counted by the kernel (OutRsts and
 * ListenDrops). An upper bound on lost requests: the counters include probes, and connections between programs of the Pod.
 * `stopping` also includes client connections that were closed without a reset before their response.
 */
export type ResetsReport = {
  /** Number of resets from the trigger until the preStop calls of the apps were answered. */
  readonly draining: number;
  /** Number of resets from these answers until the manager exits, which it does after the apps. */
  readonly stopping: number;
  /** Number of the kubelet's probes that `stopping` may include. */
  readonly probes: number;
  /** Duration in which `stopping` was counted. */
  readonly stoppingMs: number;
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
  /** Connections beyond {@link TRACKED_LIMIT}, open or just ended, which never count as quiet. Omitted if 0. */
  readonly untracked?: number | undefined;
  /** Omitted without `preload`. */
  readonly preload?: PreloadReport | undefined;
  /**
   * Only in a second report, which a native sidecar sends when it exits after the apps. Omitted by a classic manager, and if the
   * kernel's counters could not be read or include other Pods.
   */
  readonly resets?: ResetsReport | undefined;
  /**
   * Source of the time of the last traffic (`netlink`, `proc`, `driver`, `passive-opens`), the reason why the Pod was not quiet
   * (`ambiguous`, `too-many`), or `none`.
   */
  readonly evidenceSource: string;
  /**
   * Time until the deadline. Only in the reports of a running drain, whose outcome is `none`. The first is sent after 10 s, the next
   * 20 s later; each interval is twice the one before, up to an hour.
   */
  readonly remainingMs?: number | undefined;
  /** One sentence that explains the duration of the drain. */
  readonly why: string;
  /**
   * The relay's status at the end of the withdrawing phase: `none` (no relay, or no request), `withdrawn`, `offered`
   * (slices still listed the terminating Pod as serving at the deadline), `not_terminating` (slices never showed the
   * Pod as terminating, because the kubelet stopped the Pod without a deletion), or `unknown: REASON`; at most 200 characters. Managers
   * without relay support omit this field and the next.
   */
  readonly relay?: string;
  /** From the trigger to the withdrawal; 0 if the Pod was withdrawn earlier, -1 if the relay never reported it. */
  readonly withdrawnAfterMs?: number;
};

/** Enough connections to identify the clients that keep them open. */
export const LEFT_LIMIT = 20;

/** Connections tracked one by one: 6.8 MB, which fits the manager's memory limit of 16Mi. */
export const TRACKED_LIMIT = 131_072;
