/** Part of the sanitizer run: random conversations through the preloaded library, on a made-up kernel. */
import { Finding, type Part } from "../manager/fuzz/sanitize-part.ts";
import { demandCleanEnd, FUZZ_FOLDER, start } from "../manager/fuzz/sanitized-process.ts";
import { compileSanitized } from "./sanitized.ts";

/** About a tenth of a second. */
const BATCH = 10_000;

export const preloadConversations: Part = async ({ random, goesOn }) => {
  const program = compileSanitized("shim-cases", FUZZ_FOLDER);
  let held = 0;
  let told = 0;
  while (goesOn(held)) {
    const words = [String(random.below(0x7fffffff)), String(BATCH)];
    const end = await start(program, words).ended;
    const input = Buffer.from(words.join(" "));
    demandCleanEnd(end, [0, 1], input);
    if (end.code === 1) throw new Finding(end.out, input);
    held += BATCH;
    told += Number(/^([0-9]+) told/.exec(end.out)?.[1]);
  }
  return `${held} conversations, ${told} answers with a farewell`;
};
