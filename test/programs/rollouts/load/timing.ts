/** Provides the clients' clock, their request rate, and the lifetimes of their connections. */
import type { LoadPlan } from "../rollouts-request.ts";

/** Milliseconds of the monotonic clock that all processes of the machine share. */
export function sharedNowMs(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000;
}

/** Paces clients that do not wait for responses. @returns a function that returns the number of requests due after its last call */
export function createRequestPace(perSecond: number, startMs: number): (nowMs: number) => number {
  let countedRequests = 0;
  return (nowMs) => {
    const dueRequests = Math.floor(((nowMs - startMs) * perSecond) / 1_000) - countedRequests;
    countedRequests += dueRequests;
    return dueRequests;
  };
}

/** Chooses the end of a connection opened at `nowMs`; Infinity for endless clients. @param random from 0 to 1 */
export function chooseCloseMs(lives: LoadPlan["lives"], nowMs: number, random: number): number {
  if (lives === "endless") return Number.POSITIVE_INFINITY;
  return nowMs + lives.leastMs + random * (lives.mostMs - lives.leastMs);
}
