/** What the relay's benchmark measures, and the arithmetic of it. Times in milliseconds, memory in bytes. */

export type Spread = { readonly count: number; readonly p50: number; readonly p99: number; readonly max: number };

export type RelayFigures = {
  readonly cores: number;
  /** Of the last minute, as the run began and ended. */
  readonly loadAverage: { readonly before: number; readonly after: number };
  readonly world: {
    readonly endpoints: number;
    readonly slices: number;
    readonly namespaces: number;
    readonly sliceBytes: number;
  };
  readonly streams: number;
  /** From the first connection until every Pod was told that it is in. */
  readonly openingSeconds: number;
  /** Used heap of the relay's thread, with all streams open. */
  readonly relayHeap: number;
  /** Of the webhook's process: warmed up, with all streams open, with all changes told, and with no one left. */
  readonly memory: { readonly idle: number; readonly open: number; readonly told: number; readonly left: number };
  readonly cpu: {
    /** Of one core, 0 to 1, while streams are open and nothing changes: their heartbeats. */
    readonly openShare: number;
    /** Of one core, for a thousand Pods that wait for nothing else and are told five times a second. */
    readonly thousandHeartbeatsShare: number;
    /** Per slice event, each of a slice of 100 endpoints and with one Pod to be told. */
    readonly perEventMs: number;
    readonly events: number;
    readonly perStreamMs: number;
    /** Of it, by the thread that answers admissions. */
    readonly perStreamBesideMs: number;
  };
  /** From the write of a slice to the line that was read: beside admissions, alone, and all at once. */
  readonly told: { readonly beside: Spread; readonly alone: Spread; readonly burst: Spread };
  readonly burstSeconds: number;
  readonly admissions: {
    readonly perSecond: number;
    /** Before the first stream and after the last. */
    readonly quiet: AdmissionRounds;
    /** While the streams begin. */
    readonly opening: AdmissionRounds;
    /** While slices change and their Pods are told. */
    readonly events: AdmissionRounds;
  };
  readonly eventsPerSecond: number;
  /** Streams that were refused or broke. */
  readonly broken: number;
  readonly why: string;
};

/** `cpuShare`: of one core, by the process that was asked. */
export type AdmissionRound = {
  readonly p50: number;
  readonly p99: number;
  readonly cpuShare: number;
  /** By the thread that answers admissions, for each of them. */
  readonly ownCpuMs: number;
};

/** In turns: by the process whose relay is measured, and by one without drains, which shows what the machine does. */
export type AdmissionRounds = { readonly here: readonly AdmissionRound[]; readonly aside: readonly AdmissionRound[] };

export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((left, right) => left - right);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), max: sorted.at(-1) ?? Number.NaN };
}

export function median(values: readonly number[]): number {
  return [...values].sort((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/**
 * Of the best round: what else the machine does only ever adds, and comes and goes; what the relay does is in every
 * round.
 */
export function bestP99(some: readonly AdmissionRound[]): number {
  return some.length === 0 ? Number.NaN : Math.min(...some.map((round) => round.p99));
}

/**
 * The p99 of admissions under something, as a multiple of the same process's p99 in quiet: of the one with drains, and of the
 * one without, which shows how much of it the machine does.
 */
export function timesQuiet({ admissions }: RelayFigures, during: AdmissionRounds): { here: number; aside: number } {
  const times = (who: keyof AdmissionRounds): number => bestP99(during[who]) / bestP99(admissions.quiet[who]);
  return { here: times("here"), aside: times("aside") };
}

/** The same as a multiple of the other process's at the same time: what is left when the machine's part is taken out. */
export function timesAside({ here, aside }: AdmissionRounds): number {
  return bestP99(here) / bestP99(aside);
}
