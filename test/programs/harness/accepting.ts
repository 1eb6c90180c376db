/** Waits for a server that has been started to accept connections. */
import { connect } from "node:net";
import type { Clock } from "../../../src/demo/clock.ts";

const LIMIT_MS = 120_000;
const POLL_MS = 50;

/** @throws after two minutes, or as soon as `isRunning` is false */
export async function untilAccepting(
  host: string,
  port: number,
  isRunning: () => boolean,
  clock: Clock,
): Promise<void> {
  const limitMs = clock.nowMs() + LIMIT_MS;
  while (!(await accepts(host, port))) {
    if (!isRunning()) throw new Error(`what should serve on ${host}:${port} has ended`);
    if (clock.nowMs() > limitMs) throw new Error(`no one serves on ${host}:${port} after ${LIMIT_MS / 1_000} s`);
    await clock.wait(POLL_MS);
  }
}

function accepts(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const over = (open: boolean) => {
      socket.destroy();
      resolve(open);
    };
    socket.once("connect", () => over(true)).once("error", () => over(false));
  });
}
