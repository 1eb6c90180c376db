/** Waits until a condition is true, with a timeout. */
import { connect } from "node:net";
import { realClock } from "../../../src/demo/clock.ts";
import type { RunningPod } from "../../../src/demo/pods/running-pod.ts";

/** A broker starts in 5 s, or in 30 s when eight programs share the processor. */
const LIMIT_MS = 120_000;
const POLL_MS = 20;

/** @throws if the condition is still false after two minutes; the message contains the events of `pod` */
export async function waitUntil(
  condition: string,
  isMet: () => boolean | Promise<boolean>,
  pod?: Pick<RunningPod, "events">,
): Promise<void> {
  const limitMs = realClock.nowMs() + LIMIT_MS;
  while (!(await isMet())) {
    if (realClock.nowMs() > limitMs) {
      const lines = (pod?.events ?? []).map((event) => `\n${event.container} ${event.type} ${event.detail}`);
      throw new Error(`timed out after ${LIMIT_MS / 1_000} s, waiting until ${condition}${lines.join("")}`);
    }
    await realClock.wait(POLL_MS);
  }
}

/** @throws if the server does not accept connections within two minutes, or as soon as `isRunning` is false */
export function waitUntilAccepting(host: string, port: number, isRunning: () => boolean): Promise<void> {
  return waitUntil(`${host}:${port} accepts connections`, () => {
    if (!isRunning()) throw new Error(`the server of ${host}:${port} exited before it accepted connections`);
    return canConnect(host, port);
  });
}

export function canConnect(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const finish = (open: boolean) => {
      socket.destroy();
      resolve(open);
    };
    socket.once("connect", () => finish(true)).once("error", () => finish(false));
  });
}
