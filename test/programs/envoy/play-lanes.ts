/** Plays cases side by side in one process, as most of them only wait; and what their program asks of that process. */
import { realClock } from "../../../src/demo/clock.ts";
import { type CommandLine, requiredProgram, type Skipping } from "../install/program-of.ts";

export type PlayRequest = {
  readonly envoys: Readonly<Record<string, CommandLine>>;
  /** The native manager; empty where it cannot be built. */
  readonly native: string;
};

export type Played<Result> = Readonly<Record<string, { readonly result: Result } | { readonly error: string }>>;

export const NODE_MANAGER = new URL("../../../src/manager/node-main.ts", import.meta.url).pathname;

export async function requiredEnvoys(context: Skipping): Promise<PlayRequest["envoys"]> {
  return {
    "1.40": await requiredProgram("envoy-1.40", context),
    "1.36": await requiredProgram("envoy-1.36", context),
  };
}

type Queue<Case> = { readonly cases: readonly Case[]; readonly lanes: number };

/** A case that fails is the result of its own name. */
export async function playAll<Case, Result>(
  queues: readonly Queue<Case>[],
  nameOf: (one: Case) => string,
  run: (one: Case) => Promise<Result>,
): Promise<Played<Result>> {
  const played: Record<string, Played<Result>[string]> = {};
  const lane = async (waiting: Case[]) => {
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
      played[nameOf(one)] = await run(one).then(
        (result) => ({ result }),
        (error: Error) => ({ error: error.stack ?? error.message }),
      );
      // Namespaces and Envoys end before the next ones begin.
      await realClock.wait(100);
    }
  };
  await Promise.all(
    queues.flatMap(({ cases, lanes }) => {
      const waiting = [...cases];
      return Array.from({ length: lanes }, () => lane(waiting));
    }),
  );
  return played;
}

/** @throws where the case failed or was not played */
export function resultOf<Result>(played: Played<Result>, name: string): Result {
  const one = played[name];
  if (one === undefined) throw new Error("the case was not played");
  if ("error" in one) throw new Error(one.error);
  return one.result;
}
