/**
 * `node test/manager/fuzz/soak.ts [--rounds=8] [--drains=40] [--calls=300]`: detects leaks of memory and file descriptors in the
 * compiled manager. Drains run on a virtual clock and sample the kernel's real sockets; the real binary gets calls, restarts of
 * containers and unauthenticated clients. Every round has the same work. Prints a row for each round; the exit status is 1 if a
 * value grows.
 */
import { mkdirSync } from "node:fs";
import { buildManager, buildProgram } from "../../../native/build/build.ts";
import { growthOf, type Round } from "./growth.ts";
import { FUZZ_FOLDER, killAll, killAllWhenInterrupted } from "./sanitized-process.ts";
import { soakCalls } from "./soak-calls.ts";
import { soakDrains } from "./soak-drains.ts";

const EXIT_GREW = 1;
const EXIT_USAGE = 64;

const options = { rounds: 8, drains: 40, calls: 300 };
for (const arg of process.argv.slice(2)) {
  const [, flag, value = ""] = /^--(rounds|drains|calls)=([1-9][0-9]{0,5})$/.exec(arg) ?? [];
  if (flag === "rounds" || flag === "drains" || flag === "calls") options[flag] = Number(value);
  else {
    process.stderr.write(`soak: ${arg} is unknown; use --rounds=NUMBER, --drains=NUMBER and --calls=NUMBER\n`);
    process.exit(EXIT_USAGE);
  }
}

function printRounds(title: string, rounds: readonly Round[]): boolean {
  process.stdout.write(`${title}\nround  hours in a Pod  resident KiB  descriptors\n`);
  for (const [n, { hours, residentKib, descriptors }] of rounds.entries())
    process.stdout.write(
      `${String(n + 1).padStart(5)}  ${hours.toFixed(1).padStart(14)}  ${String(residentKib).padStart(12)}  ${String(descriptors).padStart(11)}\n`,
    );
  const { kibPerDay, descriptors, problem } = growthOf(rounds);
  process.stdout.write(
    `slope ${kibPerDay.toFixed(1)} KiB a day, descriptors ${descriptors}: ${problem || "no growth"}\n\n`,
  );
  return problem === "";
}

killAllWhenInterrupted();
try {
  mkdirSync(FUZZ_FOLDER, { recursive: true });
  const { file } = await buildManager("x64");
  const program = `${FUZZ_FOLDER}/drains`;
  await buildProgram("x64", { source: "test/manager/fuzz/soak-main.ts", bindsLibc: true }, program);
  const drainsAreStable = printRounds(
    "drains, one Pod with a client that stays and one without",
    await soakDrains(program, options),
  );
  const callsAreStable = printRounds(
    "calls, restarts and unauthenticated clients of the manager",
    await soakCalls(file, options),
  );
  if (!drainsAreStable || !callsAreStable) process.exitCode = EXIT_GREW;
} finally {
  killAll();
}
