/** Reconciles an object that replicas share: reads, decides, writes, and repeats until nothing is left to do. */

/** More than the writes and conflicts of all replicas; more rounds mean that another writer never stops. */
const ROUND_LIMIT = 16;

type Reconciliation<Seen, Step> = {
  readonly what: string;
  readonly read: () => Promise<Seen>;
  readonly decide: (seen: Seen) => Step | undefined;
  /** Resolves after a conflict too: the next round reads what the other writer wrote. */
  readonly write: (step: Step, seen: Seen) => Promise<void>;
};

/** @throws Error when a port does, and after 16 rounds */
export async function reconcile<Seen, Step>(parts: Reconciliation<Seen, Step>): Promise<Seen> {
  for (let round = 0; round < ROUND_LIMIT; round += 1) {
    const seen = await parts.read();
    const step = parts.decide(seen);
    if (step === undefined) return seen;
    await parts.write(step, seen);
  }
  throw new Error(`${parts.what} was changed by another writer ${ROUND_LIMIT} times in a row`);
}

const REPEAT_MS = 600_000;

type FailureFilter = {
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
