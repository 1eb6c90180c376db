/**
 * Tokens that no one can guess, from randomness fetched in bulk: asking the system for 16 bytes costs as much as a
 * small admission.
 */
import { randomFillSync } from "node:crypto";

const TOKEN_BYTES = 16;
const POOL_BYTES = 4_096;

/** Each call answers 32 hexadecimal characters that were never given out before. */
export function tokenSource(): () => string {
  const pool = Buffer.alloc(POOL_BYTES);
  let used = POOL_BYTES;
  return () => {
    if (used === POOL_BYTES) {
      randomFillSync(pool);
      used = 0;
    }
    const token = pool.toString("hex", used, used + TOKEN_BYTES);
    // What was given out is not kept here.
    pool.fill(0, used, used + TOKEN_BYTES);
    used += TOKEN_BYTES;
    return token;
  };
}
