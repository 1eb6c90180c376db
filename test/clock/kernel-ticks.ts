/** The kernel's clock as its ages are counted: it stands between two ticks, and a busy host serves a tick late. */
import { createRequire } from "node:module";

const CLOCK_MONOTONIC_COARSE = 6;
const MS_PER_SECOND = 1_000;
const NS_PER_MS = 1_000_000;

/** Of the longest tick that kernels for servers are built with, at 250 Hz. */
export const TICK_MS = 4;

const koffi = createRequire(import.meta.url)("koffi") as typeof import("koffi");
const readClock = koffi.load(null).func("int clock_gettime(int clock, _Out_ int64_t *seconds_and_nanoseconds)");
const words = new BigInt64Array(2);

/** @returns milliseconds of the kernel's monotonic clock at its last tick */
export function lastTickMs(): number {
  readClock(CLOCK_MONOTONIC_COARSE, words);
  return Number(words[0]) * MS_PER_SECOND + Number(words[1]) / NS_PER_MS;
}
