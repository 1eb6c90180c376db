/** Monotonic milliseconds that mean the same in every process of this machine. */
export function sharedNowMs(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000;
}
