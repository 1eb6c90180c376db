/** Part of the sanitizer run: random exchanges through the preload library on a fake kernel. */
import { Finding, type Part } from "../manager/fuzz/sanitize-part.ts";
import { FUZZ_FOLDER, requireCleanExit, start } from "../manager/fuzz/sanitized-process.ts";
import { compileSanitized } from "./sanitized.ts";

/** This number of exchanges takes about 0.1 s. */
const BATCH = 10_000;

export const preloadExchanges: Part = async ({ random, shouldContinue }) => {
  const program = compileSanitized("shim-cases", FUZZ_FOLDER);
  let checkedCount = 0;
  let changedCount = 0;
  while (shouldContinue(checkedCount)) {
    const args = [String(random.below(0x7fffffff)), String(BATCH)];
    const exit = await start(program, args).ended;
    const input = Buffer.from(args.join(" "));
    requireCleanExit(exit, [0, 1], input);
    if (exit.code === 1) throw new Finding(exit.stdout, input);
    checkedCount += BATCH;
    changedCount += Number(/^([0-9]+) changed/.exec(exit.stdout)?.[1]);
  }
  return `${checkedCount} exchanges, ${changedCount} responses with the header`;
};
