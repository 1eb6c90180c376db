/** Makes random choices that a seed reproduces. */

export type Random = {
  /** An integer from 0 to below `limit`. */
  readonly below: (limit: number) => number;
  readonly chance: (probability: number) => boolean;
  readonly pick: <T>(list: readonly T[]) => T;
};

/** The generator is mulberry32. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    below,
    chance: (probability) => next() < probability,
    pick: (list) => {
      const one = list[below(list.length)];
      if (one === undefined) throw new Error("there is nothing to pick from");
      return one;
    },
  };
}

/** Derives a seed for each part, so a part makes the same choices alone as in a full run. */
export function seedOf(seed: number, part: string): number {
  let mixed = seed >>> 0;
  for (const letter of Buffer.from(part)) mixed = Math.imul(mixed ^ letter, 16_777_619) >>> 0;
  return mixed;
}
