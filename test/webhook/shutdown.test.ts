/** The webhook's shutdown, at virtual time. */
import { expect, test } from "vitest";
import type { Log } from "../../src/webhook/log.ts";
import type { WebhookServer } from "../../src/webhook/server.ts";
import { shutDown } from "../../src/webhook/shutdown.ts";

const DELAY_MS = 20_000;
const LIMIT_MS = 30_000;

/** A server whose last request the test answers, and a clock that the test moves. */
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
  const log = (first: unknown, message?: unknown) => void done.push(`logs ${message ?? first}`);
  const left = shutDown(app, {
    drainDelayMs: DELAY_MS,
    log: { info: log, warn: log } as unknown as Log,
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

test("during shutdown the webhook serves for its delay, then closes its port and completes open requests", async () => {
  const { done, left, pass, finish } = scene();
  expect(done).toEqual(["logs received a stop signal, still serving"]);
  await pass(DELAY_MS);
  expect(done.slice(1)).toEqual(["logs no longer listening", "closes", "ends the rest"]);
  finish();
  await left;
  expect(done.slice(4)).toEqual(["logs stopped"]);
});

test("during shutdown a request that takes longer than any admission is aborted and logged", async () => {
  const { done, left, pass } = scene();
  await pass(DELAY_MS);
  await pass(LIMIT_MS);
  await left;
  expect(done.slice(4)).toEqual(["logs open requests were cut", "cuts", "logs stopped"]);
});
