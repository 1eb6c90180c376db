/** Fuzzes the parsers of relay and webhook, and the injection, as parts of the fuzz run. */
import { runRandomPods } from "../injection/random-pods.ts";
import { type Budget, Finding } from "../manager/fuzz/sanitize-part.ts";
import { readChangedCredentials } from "./credentials.ts";
import { DOCUMENT_KINDS, DocumentError, readDamaged } from "./documents.ts";

/** Documents per kind in each round. */
const BATCH = 250;

export async function fuzzDocuments({ random, shouldContinue }: Budget): Promise<string> {
  const acceptedCounts = DOCUMENT_KINDS.map(() => 0);
  let documentCount = 0;
  try {
    while (shouldContinue(documentCount))
      for (const [index, kind] of DOCUMENT_KINDS.entries()) {
        acceptedCounts[index] = (acceptedCounts[index] ?? 0) + (await readDamaged(kind, BATCH, random));
        documentCount += BATCH;
      }
  } catch (error) {
    if (error instanceof DocumentError) throw new Finding(error.message, Buffer.from(error.text));
    throw error;
  }
  const countPerKind = documentCount / DOCUMENT_KINDS.length;
  return DOCUMENT_KINDS.map(({ name }, index) => `${countPerKind} of ${name} (${acceptedCounts[index]} accepted)`).join(
    ", ",
  );
}

export async function fuzzCredentials({ random, shouldContinue }: Budget): Promise<string> {
  let refusedCount = 0;
  let unchangedCount = 0;
  try {
    while (shouldContinue(refusedCount)) {
      const result = readChangedCredentials(BATCH, random);
      refusedCount += result.refusedCount;
      unchangedCount += result.unchangedCount;
    }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new Finding(message, Buffer.from(message));
  }
  return `${refusedCount} changed credentials refused, ${unchangedCount} unchanged credentials accepted`;
}

const POD_BATCH = 500;

export async function fuzzInjection({ random, shouldContinue }: Budget): Promise<string> {
  let podCount = 0;
  let patchedCount = 0;
  let forgedCount = 0;
  while (shouldContinue(podCount)) {
    const seed = random.below(0x7fffffff);
    const counts = runRandomPods(POD_BATCH, seed);
    if (counts.violations.size > 0) {
      const message = [...counts.violations].map(([violation, times]) => `${times} times ${violation}`).join(", ");
      throw new Finding(`${message}; Pods of seed ${seed}`, Buffer.from(JSON.stringify(counts.example)));
    }
    podCount += POD_BATCH;
    patchedCount += counts.patchedCount;
    forgedCount += counts.forgedCount;
  }
  return `${podCount} Pods, ${patchedCount} patched, ${forgedCount} of them with a forged manager`;
}
