/** Fuzzes the parsers of relay and webhook, and the injection, as parts of the fuzz run. */
import { runRandomPods } from "../injection/random-pods.ts";
import { type Budget, Finding } from "../manager/fuzz/sanitize-part.ts";
import { readChangedCredentials } from "./credentials.ts";
import { DOCUMENT_KINDS, DocumentError, readDamaged } from "./documents.ts";

/** Documents per kind in each round. */
const BATCH = 250;

export async function damagedDocuments({ random, shouldContinue }: Budget): Promise<string> {
  const accepted = DOCUMENT_KINDS.map(() => 0);
  let documentCount = 0;
  try {
    while (shouldContinue(documentCount))
      for (const [index, kind] of DOCUMENT_KINDS.entries()) {
        accepted[index] = (accepted[index] ?? 0) + (await readDamaged(kind, BATCH, random));
        documentCount += BATCH;
      }
  } catch (error) {
    if (error instanceof DocumentError) throw new Finding(error.message, Buffer.from(error.text));
    throw error;
  }
  const countPerKind = documentCount / DOCUMENT_KINDS.length;
  return DOCUMENT_KINDS.map(({ name }, index) => `${countPerKind} of ${name} (${accepted[index]} accepted)`).join(", ");
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
    const message = error instanceof Error ? error.message : String(error);
    throw new Finding(message, Buffer.from(message));
  }
  return `${refused} changed credentials refused, ${unchanged} unchanged credentials accepted`;
}

const PODS_AT_ONCE = 500;

export async function randomPods({ random, shouldContinue }: Budget): Promise<string> {
  let podCount = 0;
  let patched = 0;
  let forged = 0;
  while (shouldContinue(podCount)) {
    const seed = random.below(0x7fffffff);
    const counts = runRandomPods(PODS_AT_ONCE, seed);
    if (counts.violations.size > 0) {
      const message = [...counts.violations].map(([violation, times]) => `${times} times ${violation}`).join(", ");
      throw new Finding(`${message}; Pods of seed ${seed}`, Buffer.from(JSON.stringify(counts.example)));
    }
    podCount += PODS_AT_ONCE;
    patched += counts.patchedCount;
    forged += counts.forgedCount;
  }
  return `${podCount} Pods, ${patched} patched, ${forged} of them with a forged manager`;
}
