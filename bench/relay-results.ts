/** Defines the results of the relay benchmark and their arithmetic. Times in milliseconds, memory in bytes. */

export type Spread = { readonly count: number; readonly p50: number; readonly p99: number; readonly max: number };

export type RelayResults = {
  readonly cores: number;
  readonly loadAverage: { readonly before: number; readonly after: number };
  readonly cluster: {
    readonly endpoints: number;
    readonly slices: number;
    readonly namespaces: number;
    readonly sliceBytes: number;
  };
  readonly streams: number;
  /** Time from the first connection until every Pod has received the status `in`. */
  readonly openingSeconds: number;
  readonly relayHeap: number;
  /** Resident memory of the webhook: warmed up, with all streams open, after all withdrawals, and after all streams closed. */
  readonly memory: {
    readonly idle: number;
    readonly open: number;
    readonly withdrawn: number;
    readonly closed: number;
  };
  readonly cpu: {
    /** CPU time as a share of one core, 0 to 1, while the open streams get only heartbeats. */
    readonly openShare: number;
    /** CPU time as a share of one core, for a thousand Pods that wait only for the relay, with five heartbeats per second each. */
    readonly thousandHeartbeatsShare: number;
    /** CPU time per watch event of a slice of 100 endpoints that withdraws one Pod. */
    readonly perEventMs: number;
    readonly events: number;
    readonly perStreamMs: number;
    /** Part of `perStreamMs` on the main thread, which answers admissions. */
    readonly perStreamMainMs: number;
  };
  /**
   * Delay from the write of a slice to the client's read of the status line: `beside` during admissions, `alone` without
   * admissions, `burst` for withdrawals as fast as possible.
   */
  readonly withdrawalMs: { readonly beside: Spread; readonly alone: Spread; readonly burst: Spread };
  readonly burstSeconds: number;
  readonly admissions: {
    readonly perSecond: number;
    /** Rounds before the first stream opens and after the last stream has closed. */
    readonly quiet: AdmissionRounds;
    readonly opening: AdmissionRounds;
    readonly events: AdmissionRounds;
  };
  readonly eventsPerSecond: number;
  readonly broken: number;
  readonly brokenReason: string;
};

export type AdmissionRound = {
  readonly p50: number;
  readonly p99: number;
  /** CPU time as a share of one core. */
  readonly cpuShare: number;
  readonly mainThreadMs: number;
};

/** The control is a second webhook without drains, which shows other load of the host. */
export type AdmissionRounds = {
  readonly draining: readonly AdmissionRound[];
  readonly control: readonly AdmissionRound[];
};

export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((left, right) => left - right);
  const valueAt = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  return { count: sorted.length, p50: valueAt(0.5), p99: valueAt(0.99), max: sorted.at(-1) ?? Number.NaN };
}

export function median(values: readonly number[]): number {
  return [...values].sort((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** Returns the p99 of the best round, because other load of the host only adds latency, and only in some rounds. */
export function bestP99(rounds: readonly AdmissionRound[]): number {
  return rounds.length === 0 ? Number.NaN : Math.min(...rounds.map((round) => round.p99));
}

/** The p99 as a multiple of the same process's p99 without drains. The control's ratio shows other load of the host. */
export function ratioToQuiet(
  { admissions }: RelayResults,
  during: AdmissionRounds,
): { draining: number; control: number } {
  const ratioOf = (webhook: keyof AdmissionRounds): number =>
    bestP99(during[webhook]) / bestP99(admissions.quiet[webhook]);
  return { draining: ratioOf("draining"), control: ratioOf("control") };
}

/** The p99 of admissions as a multiple of the control's at the same time, which excludes other load of the host. */
export function ratioToControl({ draining, control }: AdmissionRounds): number {
  return bestP99(draining) / bestP99(control);
}
