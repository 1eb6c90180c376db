/** Waits for what a test's own world announces: in the very turn, which a story on a clock of its own needs. */
import { EVENTUALLY_LIMIT_MS } from "./eventually.ts";

export type Changes = {
  /** Something may have come that is waited for. */
  readonly tell: () => void;
  /** Until the look finds it. @throws with these words when it never comes */
  readonly find: <T>(look: () => T | undefined, words: () => string) => Promise<T>;
};

export function createChanges(): Changes {
  const looks = new Set<() => void>();
  return {
    tell: () => {
      for (const look of looks) look();
    },
    find: (look, words) =>
      new Promise((resolve, reject) => {
        const limit = setTimeout(() => {
          looks.delete(again);
          reject(new Error(`did not come within ${EVENTUALLY_LIMIT_MS / 1_000} s: ${words()}`));
        }, EVENTUALLY_LIMIT_MS).unref();
        const again = () => {
          const found = look();
          if (found === undefined) return;
          clearTimeout(limit);
          looks.delete(again);
          resolve(found);
        };
        looks.add(again);
        again();
      }),
  };
}
