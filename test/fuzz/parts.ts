/** The parsers of relay and webhook, and the injection, as parts of the fuzz run. */
import { runRandomPods } from "../injection/random-pods.ts";
import { type Budget, Finding } from "../manager/fuzz/sanitize-part.ts";
import { readChangedCredentials } from "./credentials.ts";
import { DOCUMENT_KINDS, Misread, readDamaged } from "./documents.ts";

/** Per kind and round. */
const BATCH = 250;

export async function damagedDocuments({ random, shouldContinue }: Budget): Promise<string> {
  const taken = DOCUMENT_KINDS.map(() => 0);
  let read = 0;
  try {
    while (shouldContinue(read))
      for (const [at, kind] of DOCUMENT_KINDS.entries()) {
        taken[at] = (taken[at] ?? 0) + (await readDamaged(kind, BATCH, random));
        read += BATCH;
      }
  } catch (error) {
    if (error instanceof Misread) throw new Finding(error.message, Buffer.from(error.text));
    throw error;
  }
  const each = read / DOCUMENT_KINDS.length;
  return DOCUMENT_KINDS.map(({ name }, at) => `${each} of ${name} (${taken[at]} taken)`).join(", ");
}

export async function changedCredentials({ random, shouldContinue }: Budget): Promise<string> {
  let refused = 0;
  let unchanged = 0;
  try {
    while (shouldContinue(refused)) {
      const read = readChangedCredentials(BATCH, random);
      refused += read.refused;
      unchanged += read.unchanged;
    }
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    throw new Finding(words, Buffer.from(words));
  }
  return `${refused} changed ones refused, ${unchanged} that were not changed understood`;
}

const PODS_AT_ONCE = 500;

export async function randomPods({ random, shouldContinue }: Budget): Promise<string> {
  let tried = 0;
  let patched = 0;
  let forged = 0;
  while (shouldContinue(tried)) {
    const seed = random.below(0x7fffffff);
    const counts = runRandomPods(PODS_AT_ONCE, seed);
    if (counts.violations.size > 0) {
      const words = [...counts.violations].map(([violation, times]) => `${times} times ${violation}`).join(", ");
      throw new Finding(`${words}; Pods of seed ${seed}`, Buffer.from(JSON.stringify(counts.example)));
    }
    tried += PODS_AT_ONCE;
    patched += counts.patched;
    forged += counts.forged;
  }
  return `${tried} Pods, ${patched} patched, ${forged} of them with a forged manager`;
}
