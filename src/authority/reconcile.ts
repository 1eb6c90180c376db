/** Reconciles objects that replicas share: reads, decides, writes, and reads again until nothing is left to do. */

/** More than the writes of one replica and the conflicts with the others; beyond that, another writer never stops. */
const ROUND_LIMIT = 16;

type Reconciliation<Seen, Step> = {
  /** Names the object in errors. */
  readonly what: string;
  readonly read: () => Promise<Seen>;
  /** `undefined` when nothing is left to do. */
  readonly decide: (seen: Seen) => Step | undefined;
  /** Resolves after a conflict too: the next round reads what the other writer wrote. */
  readonly write: (step: Step, seen: Seen) => Promise<void>;
};

/**
 * @returns what was read last
 * @throws Error when a port does, and after 16 rounds
 */
export async function reconcile<Seen, Step>(parts: Reconciliation<Seen, Step>): Promise<Seen> {
  for (let round = 0; round < ROUND_LIMIT; round += 1) {
    const seen = await parts.read();
    const step = parts.decide(seen);
    if (step === undefined) return seen;
    await parts.write(step, seen);
  }
  throw new Error(`${parts.what} was changed by others ${ROUND_LIMIT} times in a row`);
}

/** The same failure is logged again after this time. */
const REPEAT_MS = 600_000;

type FailureFilter = {
  /** True for a new failure, and for the same one after {@link REPEAT_MS}. */
  readonly isDue: (message: string, nowMs: number) => boolean;
  readonly reset: () => void;
};

export function createFailureFilter(): FailureFilter {
  let last = { message: "", atMs: 0 };
  return {
    isDue: (message, nowMs) => {
      if (message === last.message && Math.abs(nowMs - last.atMs) < REPEAT_MS) return false;
      last = { message, atMs: nowMs };
      return true;
    },
    reset: () => {
      last = { message: "", atMs: 0 };
    },
  };
}
