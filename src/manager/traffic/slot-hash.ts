/**
 * Hashes connections to slots with secret factors (multilinear hashing), so clients cannot choose addresses and ports that collide.
 * Adds doubles, because 32-bit operations are function calls in the native build.
 */
import type { Address } from "../sockets/address-text.ts";

export type SlotHash = {
  readonly slotOf: (peer: Address, ports: number, local: number, slots: number) => number;
};

const HALF = 65_536;
/** Two factors for each of five words, and one for the index of the local address, which is below {@link HALF}. */
const FACTORS = 11;
/** 2^33. The sum of eleven products of 33 and 16 bits is below 2^53, so sums are exact. */
const MODULUS = 8_589_934_592;

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
      // The words a, b and c are the same for all IPv4 addresses, so they are omitted.
      if (peer.a !== 0 || peer.b !== 0) sum = sum + term(peer.a, 5) + term(peer.b, 7) + term(peer.c, 9);
      const quotient = sum / MODULUS;
      return Math.floor((quotient - Math.floor(quotient)) * slots);
    },
  };
}
