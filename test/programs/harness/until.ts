/** Waits for a Pod or a server, with an end. */
import { connect } from "node:net";
import { realClock } from "../../../src/demo/clock.ts";
import type { RunningPod } from "../../../src/demo/pods/running-pod.ts";

/** A broker starts in 5 s, and in 30 where eight programs want the processor. */
const LIMIT_MS = 120_000;
const POLL_MS = 20;

/** @throws after two minutes, with the events of the Pod where one is given */
export async function until(
  what: string,
  isTrue: () => boolean | Promise<boolean>,
  pod?: Pick<RunningPod, "events">,
): Promise<void> {
  const limitMs = realClock.nowMs() + LIMIT_MS;
  while (!(await isTrue())) {
    if (realClock.nowMs() > limitMs) {
      const lines = (pod?.events ?? []).map((event) => `\n${event.container} ${event.type} ${event.detail}`);
      throw new Error(`waited ${LIMIT_MS / 1_000} s in vain: ${what}${lines.join("")}`);
    }
    await realClock.wait(POLL_MS);
  }
}

/** @throws after two minutes, or as soon as `isRunning` is false */
export function untilAccepting(host: string, port: number, isRunning: () => boolean): Promise<void> {
  return until(`${host}:${port} accepts connections`, () => {
    if (!isRunning()) throw new Error(`the server of ${host}:${port} has ended`);
    return accepts(host, port);
  });
}

export function accepts(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const over = (open: boolean) => {
      socket.destroy();
      resolve(open);
    };
    socket.once("connect", () => over(true)).once("error", () => over(false));
  });
}
