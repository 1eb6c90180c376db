/** Part of the sanitizer run: random exchanges through the preloaded library on a fake kernel. */
import { Finding, type Part } from "../manager/fuzz/sanitize-part.ts";
import { demandCleanEnd, FUZZ_FOLDER, start } from "../manager/fuzz/sanitized-process.ts";
import { compileSanitized } from "./sanitized.ts";

/** About a tenth of a second. */
const BATCH = 10_000;

export const preloadExchanges: Part = async ({ random, goesOn }) => {
  const program = compileSanitized("shim-cases", FUZZ_FOLDER);
  let held = 0;
  let changed = 0;
  while (goesOn(held)) {
    const words = [String(random.below(0x7fffffff)), String(BATCH)];
    const end = await start(program, words).ended;
    const input = Buffer.from(words.join(" "));
    demandCleanEnd(end, [0, 1], input);
    if (end.code === 1) throw new Finding(end.out, input);
    held += BATCH;
    changed += Number(/^([0-9]+) changed/.exec(end.out)?.[1]);
  }
  return `${held} exchanges, ${changed} responses with the header`;
};
