/** Compares the parsers of both builds on damaged input. The sanitizers must not report a defect. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { caseBytes, mutant } from "./case-file.ts";
import { callParser } from "./parser-calls.ts";
import type { Sample } from "./samples.ts";
import { type Budget, Finding } from "./sanitize-part.ts";
import { FUZZ_FOLDER, requireCleanExit, start } from "./sanitized-process.ts";

export const PARSERS_PROGRAM = `${FUZZ_FOLDER}/parsers-sanitize`;

const BATCH = 5_000;

export async function parserComparison(budget: Budget): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "lastcall-fuzz-"));
  const file = join(folder, "cases.bin");
  let comparedCases = 0;
  try {
    while (budget.shouldContinue(comparedCases)) {
      const cases = Array.from({ length: BATCH }, () => mutant(budget.random));
      const bytes = Buffer.concat(cases.map(caseBytes));
      writeFileSync(file, bytes);
      const results = join(folder, "results.txt");
      // The output is a file, because the runtime drops lines if a pipe is full.
      const end = await start("sh", ["-c", 'exec "$0" "$1" > "$2"', PARSERS_PROGRAM, file, results]).ended;
      requireCleanExit(end, [0], bytes);
      requireSameResults(cases, readFileSync(results, "utf8").split("\n"));
      comparedCases += BATCH;
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  return `${comparedCases} damaged inputs read alike by both builds`;
}

function requireSameResults(cases: readonly Sample[], native: readonly string[]): void {
  for (const [n, one] of cases.entries()) {
    const onNode = `${one.parser} ${callParser(one.parser, one.bytes, one.extraArgument)}`;
    if (onNode !== native[n]) {
      const bothResults = `on Node: ${onNode}\nnatively: ${native[n] ?? "nothing"}`;
      throw new Finding(`${one.parser} (${JSON.stringify(one.extraArgument)}) differs\n${bothResults}`, caseBytes(one));
    }
  }
}
