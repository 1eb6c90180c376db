/** How long a client keeps a connection. Pure. */
import type { LoadPlan } from "../rollouts-request.ts";

/** When a connection opened at `nowMs` ends; never for endless clients. @param random from 0 to 1 */
export function endOfLifeMs(lives: LoadPlan["lives"], nowMs: number, random: number): number {
  if (lives === "endless") return Number.POSITIVE_INFINITY;
  return nowMs + lives.leastMs + random * (lives.mostMs - lives.leastMs);
}
