/** Part of the sanitizer run: random exchanges through the preload library on a fake kernel. */
import { Finding, type Part } from "../manager/fuzz/sanitize-part.ts";
import { FUZZ_FOLDER, requireCleanExit, start } from "../manager/fuzz/sanitized-process.ts";
import { compileSanitized } from "./sanitized.ts";

/** This number of exchanges takes about 0.1 s. */
const BATCH = 10_000;

export const preloadExchanges: Part = async ({ random, shouldContinue }) => {
  const program = compileSanitized("shim-cases", FUZZ_FOLDER);
  let checked = 0;
  let changed = 0;
  while (shouldContinue(checked)) {
    const args = [String(random.below(0x7fffffff)), String(BATCH)];
    const end = await start(program, args).ended;
    const input = Buffer.from(args.join(" "));
    requireCleanExit(end, [0, 1], input);
    if (end.code === 1) throw new Finding(end.stdout, input);
    checked += BATCH;
    changed += Number(/^([0-9]+) changed/.exec(end.stdout)?.[1]);
  }
  return `${checked} exchanges, ${changed} responses with the header`;
};
