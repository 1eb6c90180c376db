/** Tests the webhook's shutdown on a virtual clock. */
import { expect, test } from "vitest";
import type { Log } from "../../src/webhook/log.ts";
import type { WebhookServer } from "../../src/webhook/server.ts";
import { shutDown } from "../../src/webhook/shutdown.ts";

const DRAIN_DELAY_MS = 20_000;
const LIMIT_MS = 30_000;

/** Starts the shutdown of a server. `finish` completes its last request; `endSleep` ends its next sleep. */
function startShutdown() {
  const events: string[] = [];
  const sleeps: { readonly ms: number; readonly wake: () => void }[] = [];
  let finish = (): void => {};
  const closing = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const app = {
    close: () => {
      events.push("closes the server");
      return closing;
    },
    server: {
      closeAllConnections: () => {
        events.push("closes all connections");
        finish();
      },
    },
  } as unknown as WebhookServer;
  const log = (first: unknown, message?: unknown) => void events.push(`logs ${message ?? first}`);
  const shutdown = shutDown(app, {
    drainDelayMs: DRAIN_DELAY_MS,
    log: { info: log, warn: log } as unknown as Log,
    sleep: (ms) => new Promise((wake) => sleeps.push({ ms, wake })),
    onClosing: () => void events.push("calls onClosing"),
  });
  const endSleep = async (ms: number) => {
    const sleep = sleeps.shift();
    expect(sleep?.ms).toBe(ms);
    sleep?.wake();
    for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
  };
  return { events, shutdown, endSleep, finish: () => finish() };
}

test("during shutdown the webhook serves for the drain delay, closes its port and completes open requests", async () => {
  const { events, shutdown, endSleep, finish } = startShutdown();
  expect(events).toEqual(["logs received a stop signal, still serving"]);
  await endSleep(DRAIN_DELAY_MS);
  expect(events.slice(1)).toEqual(["logs no longer listening", "closes the server", "calls onClosing"]);
  finish();
  await shutdown;
  expect(events.slice(4)).toEqual(["logs stopped"]);
});

test("during shutdown a request that is open 30 s after the drain delay is aborted, and logged", async () => {
  const { events, shutdown, endSleep } = startShutdown();
  await endSleep(DRAIN_DELAY_MS);
  await endSleep(LIMIT_MS);
  await shutdown;
  expect(events.slice(4)).toEqual([
    "logs closing the connections of requests that are still open after the time limit",
    "closes all connections",
    "logs stopped",
  ]);
});
