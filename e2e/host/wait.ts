/** Waiting for something outside to become true. The only timers of the harness. */
import { setTimeout as pause } from "node:timers/promises";

export type Wait = {
  /** What is waited for, for the message: `node n1 is Ready`. */
  readonly what: string;
  readonly withinMs: number;
  readonly everyMs?: number;
};

/**
 * The first answer that is not `undefined`. A look that throws counts as "not yet" and its words are kept.
 *
 * @throws after `withinMs`, naming what was waited for and the last look's words.
 */
export async function waitUntil<T>(wait: Wait, look: Look<T>): Promise<T> {
  const endMs = performance.now() + wait.withinMs;
  for (;;) {
    const { seen, words } = await lookOnce(look);
    if (seen !== undefined) return seen;
    if (performance.now() >= endMs) {
      throw new Error(`Waited ${wait.withinMs / 1000} s in vain until ${wait.what}.${words}`);
    }
    await pause(wait.everyMs ?? 100);
  }
}

/** `undefined` means: not yet. */
export type Look<T> = () => Promise<T | undefined> | T | undefined;

/** Thrown by a look that knows that waiting on is useless. */
export class GivenUp extends Error {}

async function lookOnce<T>(look: Look<T>): Promise<{ readonly seen: T | undefined; readonly words: string }> {
  try {
    return { seen: await look(), words: "" };
  } catch (error) {
    if (error instanceof GivenUp) throw error;
    return { seen: undefined, words: ` Last: ${error instanceof Error ? error.message : String(error)}` };
  }
}

/** For what has no sign to wait for: a time that is itself the matter. */
export function pauseMs(ms: number): Promise<void> {
  return pause(ms);
}
