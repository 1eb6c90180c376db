import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { roll } from "../harness/roll.ts";
import { ENDLESS_LOAD, type RollVariant, SHORT_LIVED_LOAD } from "../harness/roll-request.ts";
import { requiredProgram } from "../install/required-program.ts";
import { recordResult } from "../results/record-result.ts";
import { SERVERS, serverDeployment, titleOf } from "./server-table.ts";
import { verdictOf } from "./server-verdict.ts";

const VARIANTS: readonly RollVariant[] = [
  { name: "without", lastcall: false, load: SHORT_LIVED_LOAD },
  { name: "with", lastcall: true, load: SHORT_LIVED_LOAD },
  { name: "endless", lastcall: true, load: ENDLESS_LOAD, annotations: { "lastcall.dev/drain-timeout": "3s" } },
];

describe("a rolling update loses nothing behind lastcall", () => {
  // Each has namespaces of its own and mostly waits, so some run side by side.
  test.concurrent.for(SERVERS.map((row) => ({ row, title: titleOf(row) })))("of $title", async ({ row }, context) => {
    const program = await requiredProgram(row.program, context);
    const scratch = await mkdtemp(join(tmpdir(), "lastcall-server-"));
    try {
      const result = await roll(
        {
          deployment: serverDeployment(row, program, scratch),
          propagationMs: 2_000,
          variants: VARIANTS,
        },
        context,
      );
      const verdict = verdictOf(row, program, result);
      process.stdout.write(`${verdict.line}\n`);
      await recordResult(verdict.result);
      expect(verdict.failures).toEqual([]);
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  });
});
