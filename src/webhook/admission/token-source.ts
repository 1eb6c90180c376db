/** Generates random tokens from a buffer that is filled in bulk: one system call per token costs as much as a small admission. */
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
    // Erases the token from the buffer.
    pool.fill(0, used, used + TOKEN_BYTES);
    used += TOKEN_BYTES;
    return token;
  };
}
