/** Generates random tokens from a buffer that is filled in bulk: one system call per token costs as much as a small admission. */
import { randomFillSync } from "node:crypto";

const TOKEN_BYTES = 16;
const POOL_BYTES = 4_096;

/** Each call returns 32 random hexadecimal characters. */
export function tokenSource(): () => string {
  const pool = Buffer.alloc(POOL_BYTES);
  let usedBytes = POOL_BYTES;
  return () => {
    if (usedBytes === POOL_BYTES) {
      randomFillSync(pool);
      usedBytes = 0;
    }
    const token = pool.toString("hex", usedBytes, usedBytes + TOKEN_BYTES);
    // Erases the token from the buffer.
    pool.fill(0, usedBytes, usedBytes + TOKEN_BYTES);
    usedBytes += TOKEN_BYTES;
    return token;
  };
}
