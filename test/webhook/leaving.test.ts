/** How the webhook leaves, at virtual time. */
import { expect, test } from "vitest";
import type { Log } from "../../src/webhook/log.ts";
import type { WebhookServer } from "../../src/webhook/server.ts";
import { shutDown } from "../../src/webhook/shutdown.ts";

const DELAY_MS = 20_000;
const LIMIT_MS = 30_000;

/** A server whose last request is answered when the test says so, and a clock that it moves. */
function scene() {
  const done: string[] = [];
  const sleeps: { readonly ms: number; readonly wake: () => void }[] = [];
  let finish = (): void => {};
  const open = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const app = {
    close: () => {
      done.push("closes");
      return open;
    },
    server: {
      closeAllConnections: () => {
        done.push("cuts");
        finish();
      },
    },
  } as unknown as WebhookServer;
  const say = (words: unknown, more?: unknown) => void done.push(`says ${more ?? words}`);
  const left = shutDown(app, {
    drainDelayMs: DELAY_MS,
    log: { info: say, warn: say } as unknown as Log,
    sleep: (ms) => new Promise((wake) => sleeps.push({ ms, wake })),
    onClosing: () => void done.push("ends the rest"),
  });
  const pass = async (ms: number) => {
    const sleep = sleeps.shift();
    expect(sleep?.ms).toBe(ms);
    sleep?.wake();
    for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
  };
  return { done, left, pass, finish: () => finish() };
}

test("it goes on serving for its delay, then listens no more and waits for what is open", async () => {
  const { done, left, pass, finish } = scene();
  expect(done).toEqual(["says received a stop signal, still serving"]);
  await pass(DELAY_MS);
  expect(done.slice(1)).toEqual(["says no longer listening", "closes", "ends the rest"]);
  finish();
  await left;
  expect(done.slice(4)).toEqual(["says stopped"]);
});

test("what is still open after the longest time of an admission is cut, and the log says so", async () => {
  const { done, left, pass } = scene();
  await pass(DELAY_MS);
  await pass(LIMIT_MS);
  await left;
  expect(done.slice(4)).toEqual(["says open requests were cut", "cuts", "says stopped"]);
});
