/** Defines conditions under which tests may fail: load, pauses, random order. Each condition lasts for one run of the suite. */
import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";

export type Condition = {
  readonly name: string;
  /** The default number of runs. */
  readonly runs: number;
  /** Additional arguments of the test runner. */
  readonly args: readonly string[];
  /** @param group process group of the test runner. @returns a function that ends the condition */
  readonly start: (group: number) => () => void;
};

const BUSY_LOOPS_PER_CORE = 2;
/** Duration of a pause of all processes. The longest pauses exceed short timeouts between programs, such as 2 s for a connection to the relay. */
const PAUSE_MS = { min: 500, max: 3_000 };
const BETWEEN_PAUSES_MS = { min: 1_000, max: 8_000 };

export const CONDITIONS: readonly Condition[] = [
  { name: "alone", runs: 10, args: [], start: () => () => {} },
  { name: "busy", runs: 10, args: [], start: startBusyLoops },
  { name: "frozen", runs: 5, args: [], start: freezeRepeatedly },
  { name: "shuffled", runs: 5, args: ["--sequence.shuffle.files", "--sequence.shuffle.tests"], start: () => () => {} },
];

function startBusyLoops(): () => void {
  const loops = Array.from({ length: BUSY_LOOPS_PER_CORE * availableParallelism() }, () =>
    spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" }),
  );
  return () => {
    for (const loop of loops) loop.kill("SIGKILL");
  };
}

/** Stops and continues all processes of the run repeatedly, including the programs under test. */
function freezeRepeatedly(group: number): () => void {
  let timer: NodeJS.Timeout;
  const freeze = () => {
    sendSignal(group, "SIGSTOP");
    timer = setTimeout(resume, randomBetween(PAUSE_MS));
  };
  const resume = () => {
    sendSignal(group, "SIGCONT");
    timer = setTimeout(freeze, randomBetween(BETWEEN_PAUSES_MS));
  };
  resume();
  return () => {
    clearTimeout(timer);
    sendSignal(group, "SIGCONT");
  };
}

function sendSignal(group: number, name: NodeJS.Signals): void {
  try {
    process.kill(-group, name);
  } catch {
    // The run is over.
  }
}

function randomBetween({ min, max }: { readonly min: number; readonly max: number }): number {
  return min + Math.random() * (max - min);
}
