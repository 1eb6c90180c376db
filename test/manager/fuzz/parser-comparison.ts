/** Compares the parsers of the Node and native builds on damaged input. The sanitizers must not report a defect. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMutant, encodeCase } from "./case-file.ts";
import { callParser } from "./parser-calls.ts";
import type { Sample } from "./samples.ts";
import { type Budget, Finding } from "./sanitize-part.ts";
import { FUZZ_FOLDER, requireCleanExit, start } from "./sanitized-process.ts";

export const PARSERS_PROGRAM = `${FUZZ_FOLDER}/parsers-sanitize`;

const BATCH_SIZE = 5_000;

export async function compareParsers(budget: Budget): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "lastcall-fuzz-"));
  const file = join(folder, "cases.bin");
  let caseCount = 0;
  try {
    while (budget.shouldContinue(caseCount)) {
      const cases = Array.from({ length: BATCH_SIZE }, () => createMutant(budget.random));
      const bytes = Buffer.concat(cases.map(encodeCase));
      writeFileSync(file, bytes);
      const results = join(folder, "results.txt");
      // The output is a file, because a natively compiled program drops lines when its stdout is a full pipe.
      const end = await start("sh", ["-c", 'exec "$0" "$1" > "$2"', PARSERS_PROGRAM, file, results]).ended;
      requireCleanExit(end, [0], bytes);
      requireSameResults(cases, readFileSync(results, "utf8").split("\n"));
      caseCount += BATCH_SIZE;
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  return `${caseCount} damaged inputs read alike by both builds`;
}

function requireSameResults(cases: readonly Sample[], nativeResults: readonly string[]): void {
  for (const [n, one] of cases.entries()) {
    const nodeResult = `${one.parser} ${callParser(one.parser, one.bytes, one.extraArgument)}`;
    if (nodeResult !== nativeResults[n]) {
      const bothResults = `on Node: ${nodeResult}\nnatively: ${nativeResults[n] ?? "nothing"}`;
      throw new Finding(
        `${one.parser} (${JSON.stringify(one.extraArgument)}) differs\n${bothResults}`,
        encodeCase(one),
      );
    }
  }
}
