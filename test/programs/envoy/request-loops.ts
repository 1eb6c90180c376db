/** Runs clients that send requests at a fixed pace and do not retry failed requests. */
import type { ClientCounts, ClientEnvironment, Clients } from "./envoy-scenario.ts";

export type RequestResult = {
  readonly failure: string;
  readonly isToPod: boolean;
};

export type RequestLoops = {
  readonly isWithdrawn: () => boolean;
  readonly runLoop: (send: () => Promise<RequestResult>) => Promise<void>;
  readonly countRefused: () => void;
  readonly clientsOf: (loops: readonly Promise<unknown>[]) => Clients;
};

export function createRequestLoops({ clock }: ClientEnvironment, paceMs: number): RequestLoops {
  const counts: ClientCounts = { answered: 0, failures: [] };
  let lastTrafficMs = clock.nowMs();
  let isRunning = true;
  let isWithdrawn = false;
  return {
    isWithdrawn: () => isWithdrawn,
    runLoop: async (send) => {
      await clock.wait(Math.random() * paceMs);
      while (isRunning) {
        const startedMs = clock.nowMs();
        const { failure, isToPod } = await send();
        if (failure === "") counts.answered += 1;
        else counts.failures.push(failure);
        if (isToPod) lastTrafficMs = clock.nowMs();
        await clock.wait(Math.max(1, startedMs + paceMs - clock.nowMs()));
      }
    },
    countRefused: () => {
      counts.refused = (counts.refused ?? 0) + 1;
    },
    clientsOf: (loops) => ({
      counts,
      lastTrafficMs: () => lastTrafficMs,
      withdraw: () => {
        isWithdrawn = true;
      },
      stop: async () => {
        isRunning = false;
        await Promise.all(loops);
      },
    }),
  };
}
