/** Runs clients that send requests at a fixed pace and never retry one. */
import type { ClientCounts, ClientEnvironment, Clients } from "./envoy-scenario.ts";

export type RequestResult = {
  readonly failure: string;
  readonly byPod: boolean;
};

export type RequestLoops = {
  readonly withdrawn: () => boolean;
  readonly loop: (send: () => Promise<RequestResult>) => Promise<void>;
  readonly countRefused: () => void;
  readonly clientsOf: (loops: readonly Promise<unknown>[]) => Clients;
};

export function createRequestLoops({ clock }: ClientEnvironment, paceMs: number): RequestLoops {
  const counts: ClientCounts = { answered: 0, failures: [] };
  let lastTrafficMs = clock.nowMs();
  let running = true;
  let withdrawn = false;
  return {
    withdrawn: () => withdrawn,
    loop: async (send) => {
      await clock.wait(Math.random() * paceMs);
      while (running) {
        const startedMs = clock.nowMs();
        const { failure, byPod } = await send();
        if (failure === "") counts.answered += 1;
        else counts.failures.push(failure);
        if (byPod) lastTrafficMs = clock.nowMs();
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
        withdrawn = true;
      },
      stop: async () => {
        running = false;
        await Promise.all(loops);
      },
    }),
  };
}
