/**
 * Generates random tokens from a buffer that is filled in bulk: a system call for 16 bytes costs as much as a small
 * admission.
 */
import { randomFillSync } from "node:crypto";

const TOKEN_BYTES = 16;
const POOL_BYTES = 4_096;

/** Each call returns 32 random hexadecimal characters. */
export function tokenSource(): () => string {
  const pool = Buffer.alloc(POOL_BYTES);
  let used = POOL_BYTES;
  return () => {
    if (used === POOL_BYTES) {
      randomFillSync(pool);
      used = 0;
    }
    const token = pool.toString("hex", used, used + TOKEN_BYTES);
    // Issued tokens do not stay in memory.
    pool.fill(0, used, used + TOKEN_BYTES);
    used += TOKEN_BYTES;
    return token;
  };
}
