/**
 * Reads a file of cases, calls the parsers and prints one line per case. Runs on Node and compiles natively; both builds must
 * print the same lines. A case is the parser's index as a byte, two 32-bit lengths, the bytes, and the parser's extra argument.
 */
import { readFileSync } from "node:fs";
import { callParser, PARSERS } from "./parser-calls.ts";

const CASE_HEAD_BYTES = 9;

function run(file: string): void {
  const cases = readFileSync(file);
  let at = 0;
  while (at + CASE_HEAD_BYTES <= cases.length) {
    const parser = PARSERS[cases.readUInt8(at)] ?? "";
    const length = cases.readUInt32LE(at + 1);
    const extraLength = cases.readUInt32LE(at + 5);
    const from = at + CASE_HEAD_BYTES;
    // A separate buffer for each case, so that the sanitizer detects reads beyond its end.
    const bytes = Buffer.alloc(length);
    cases.copy(bytes, 0, from, from + length);
    const extraArgument = Buffer.alloc(extraLength);
    cases.copy(extraArgument, 0, from + length, from + length + extraLength);
    process.stdout.write(`${parser} ${callParser(parser, bytes, extraArgument.toString("utf8"))}\n`);
    at = from + length + extraLength;
  }
}

run(process.argv[2] ?? "");
