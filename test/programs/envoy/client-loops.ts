/** Clients that ask again and again, each at its pace; no one asks twice for the same. */
import type { Clients, Place, Tally } from "./scene.ts";

export type Asked = {
  /** Empty when all was well. */
  readonly failure: string;
  readonly byPod: boolean;
};

export type Loops = {
  readonly runs: () => boolean;
  readonly withdrawn: () => boolean;
  /** Asks until told to stop, or until `ask` has no one to ask any more. */
  readonly loop: (ask: () => Promise<Asked> | undefined) => Promise<void>;
  readonly noteRefused: () => void;
  readonly of: (loops: readonly Promise<unknown>[]) => Clients;
};

/** @param paceMs between the beginnings of two requests; later where an answer takes longer */
export function createLoops({ clock }: Place, paceMs: number): Loops {
  const tally: Tally = { answered: 0, failures: [] };
  let lastMs = clock.nowMs();
  let runs = true;
  let withdrawn = false;
  return {
    runs: () => runs,
    withdrawn: () => withdrawn,
    loop: async (ask) => {
      // Not all in the same moment.
      await clock.wait(Math.random() * paceMs);
      while (runs) {
        const startedMs = clock.nowMs();
        const asking = ask();
        if (asking === undefined) return;
        const { failure, byPod } = await asking;
        if (failure === "") tally.answered += 1;
        else tally.failures.push(failure);
        if (byPod) lastMs = clock.nowMs();
        await clock.wait(Math.max(1, startedMs + paceMs - clock.nowMs()));
      }
    },
    noteRefused: () => {
      tally.refused = (tally.refused ?? 0) + 1;
    },
    of: (loops) => ({
      tally,
      lastMs: () => lastMs,
      withdraw: () => {
        withdrawn = true;
      },
      stop: async () => {
        runs = false;
        await Promise.all(loops);
      },
    }),
  };
}
