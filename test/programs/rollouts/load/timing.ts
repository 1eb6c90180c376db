/** When a client acts: its clock, its pace, and the life of its connections. */
import type { LoadPlan } from "../rollouts-request.ts";

/** Monotonic milliseconds that mean the same in every process of this machine. */
export function sharedNowMs(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000;
}

/** An open loop, whatever became of the earlier requests. @returns how many are due since the last call */
export function createPace(perSecond: number, startMs: number): (nowMs: number) => number {
  let issued = 0;
  return (nowMs) => {
    const due = Math.floor(((nowMs - startMs) * perSecond) / 1_000) - issued;
    issued += due;
    return due;
  };
}

/** When a connection opened at `nowMs` ends; never for endless clients. @param random from 0 to 1 */
export function endOfLifeMs(lives: LoadPlan["lives"], nowMs: number, random: number): number {
  if (lives === "endless") return Number.POSITIVE_INFINITY;
  return nowMs + lives.leastMs + random * (lives.mostMs - lives.leastMs);
}
