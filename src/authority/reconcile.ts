/** Reconciles objects that replicas share: reads, decides and writes, until no step is left. */

/** Conflicts between all replicas need fewer rounds. If this number does not suffice, another client writes continuously. */
const ROUND_LIMIT = 16;

type Reconciliation<Observed, Step> = {
  readonly target: string;
  readonly read: () => Promise<Observed>;
  readonly decide: (observed: Observed) => Step | undefined;
  /** Resolves after a conflict too, because the next round reads the change of the other client. */
  readonly write: (step: Step, observed: Observed) => Promise<void>;
};

/** @throws Error when a function of `steps` throws, and after `ROUND_LIMIT` rounds */
export async function reconcile<Observed, Step>(steps: Reconciliation<Observed, Step>): Promise<Observed> {
  for (let round = 0; round < ROUND_LIMIT; round += 1) {
    const observed = await steps.read();
    const step = steps.decide(observed);
    if (step === undefined) return observed;
    await steps.write(step, observed);
  }
  throw new Error(`${steps.target} was changed by other clients ${ROUND_LIMIT} times in a row`);
}

const REPEAT_MS = 600_000;

type FailureFilter = {
  readonly isDue: (message: string, nowMs: number) => boolean;
  readonly reset: () => void;
};

export function createFailureFilter(): FailureFilter {
  let lastFailure = { message: "", atMs: 0 };
  return {
    isDue: (message, nowMs) => {
      if (message === lastFailure.message && Math.abs(nowMs - lastFailure.atMs) < REPEAT_MS) return false;
      lastFailure = { message, atMs: nowMs };
      return true;
    },
    reset: () => {
      lastFailure = { message: "", atMs: 0 };
    },
  };
}
