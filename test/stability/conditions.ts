/** Conditions of the host that make tests fail: load, pauses, random order. Each lasts as long as one run. */
import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";

export type Condition = {
  readonly name: string;
  /** The default number of runs. */
  readonly runs: number;
  /** Additional arguments of the test runner. */
  readonly args: readonly string[];
  /** @param group process group of the test runner. @returns a function that ends the condition */
  readonly putOn: (group: number) => () => void;
};

const BUSY_LOOPS_PER_CORE = 2;
/** Longer than any timeout between programs of a test. */
const FROZEN_MS = { least: 500, most: 3_000 };
const FREE_MS = { least: 1_000, most: 8_000 };

export const CONDITIONS: readonly Condition[] = [
  { name: "alone", runs: 10, args: [], putOn: () => () => {} },
  { name: "busy", runs: 10, args: [], putOn: busyLoops },
  { name: "frozen", runs: 5, args: [], putOn: freezes },
  { name: "shuffled", runs: 5, args: ["--sequence.shuffle.files", "--sequence.shuffle.tests"], putOn: () => () => {} },
];

function busyLoops(): () => void {
  const loops = Array.from({ length: BUSY_LOOPS_PER_CORE * availableParallelism() }, () =>
    spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" }),
  );
  return () => {
    for (const loop of loops) loop.kill("SIGKILL");
  };
}

/** Stops and continues the complete run repeatedly, programs under test included. */
function freezes(group: number): () => void {
  let timer: NodeJS.Timeout;
  const stop = () => {
    signal(group, "SIGSTOP");
    timer = setTimeout(go, between(FROZEN_MS));
  };
  const go = () => {
    signal(group, "SIGCONT");
    timer = setTimeout(stop, between(FREE_MS));
  };
  go();
  return () => {
    clearTimeout(timer);
    signal(group, "SIGCONT");
  };
}

function signal(group: number, name: NodeJS.Signals): void {
  try {
    process.kill(-group, name);
  } catch {
    // The run is over.
  }
}

function between({ least, most }: { readonly least: number; readonly most: number }): number {
  return least + Math.random() * (most - least);
}
