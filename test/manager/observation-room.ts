/** Looks at real sockets of this machine, for tests that bring their own traffic. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { AddressInfo, Server } from "node:net";
import { DEFAULT_SETTINGS, type DrainSettings } from "../../src/contract/drain-settings.ts";
import { loadNodeLibc } from "../../src/manager/node-libc.ts";
import { createSocketReader } from "../../src/manager/sockets/sockets.ts";
import { createJudge, NO_CONNECTIONS } from "../../src/manager/traffic/judge.ts";
import type { Observation } from "../../src/manager/traffic/observation.ts";

export function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

/** `tookMs` is how long the reading took: nobody can date its ages better than that. */
export type Known = Extract<Observation, { known: true }> & { readonly atMs: number; readonly tookMs: number };

/** @returns a function that looks once; unknown looks fail the test */
export function watching(over: Partial<DrainSettings>): () => Known {
  const read = createSocketReader(loadNodeLibc(), readText);
  const judge = createJudge({ ...DEFAULT_SETTINGS, ...over });
  return () => {
    const fromMs = performance.now();
    const reading = read(60_000);
    const atMs = performance.now();
    const seen = judge.observe(reading, atMs, NO_CONNECTIONS);
    if (!seen.known) throw new Error(seen.why);
    return { ...seen, atMs, tookMs: atMs - fromMs };
  };
}

export async function listen(server: Server, host: string): Promise<number> {
  server.listen(0, host);
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

export function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}

/** Waits for a condition of the kernel that comes by itself; the test's own time limit ends the wait. */
export async function until<T>(look: () => T, holds: (seen: T) => boolean): Promise<T> {
  for (;;) {
    const seen = look();
    if (holds(seen)) return seen;
    await pause(20);
  }
}

/** A Node program as a child; answers when it has printed its first line. */
export async function startNode(source: string, args: readonly string[] = [], wrapper: readonly string[] = []) {
  const words = [...wrapper, process.execPath, "--input-type=module", "-e", source, ...args];
  const child: ChildProcess = spawn(words[0] ?? "", words.slice(1), { stdio: ["pipe", "pipe", "inherit"] });
  const first = once(child.stdout ?? child, "data");
  const ended = once(child, "exit").then(() => {
    throw new Error(`the child ended early: ${source.slice(0, 80)}`);
  });
  const [line] = (await Promise.race([first, ended])) as [Buffer];
  ended.catch(() => undefined);
  return { child, line: line.toString().trim() };
}

export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}
