/**
 * Spreads connections over slots by secret factors (multilinear hashing): whatever addresses and ports clients choose
 * without knowing them, two connections meet in a slot no more often than by chance. Sums of doubles, since every
 * operation on 32 bits is a call in the compiled manager.
 */
import type { Address } from "../sockets/address-text.ts";

export type SlotHash = {
  /** @param slots a power of two, at most 2^18 */
  readonly slotOf: (peer: Address, ports: number, local: number, slots: number) => number;
};

const HALF = 65_536;
/** Two for each word of a pair but the place of the local address, which is below {@link HALF}. */
const FACTORS = 11;
/** 33 bits, times 16 bits, eleven times: below 2^53, so that sums are exact. */
const MODULUS = 8_589_934_592;

/** @param random 0 up to 1, not to be guessed */
export function createSlotHash(random: () => number): SlotHash {
  const factors = new Float64Array(FACTORS);
  for (let index = 0; index < factors.length; index = index + 1) factors[index] = Math.floor(random() * MODULUS);

  const term = (word: number, index: number): number => {
    const high = Math.floor(word / HALF);
    return (factors[index] ?? 0) * high + (factors[index + 1] ?? 0) * (word - high * HALF);
  };

  return {
    slotOf: (peer, ports, local, slots) => {
      let sum = term(peer.d, 0) + term(ports, 2) + local * (factors[4] ?? 0);
      // The same words for every IPv4 address.
      if (peer.a !== 0 || peer.b !== 0) sum = sum + term(peer.a, 5) + term(peer.b, 7) + term(peer.c, 9);
      const turns = sum / MODULUS;
      return Math.floor((turns - Math.floor(turns)) * slots);
    },
  };
}
