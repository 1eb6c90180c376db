import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type CaseContext, insideNamespaces } from "../harness/inside-namespaces.ts";
import {
  ENDLESS_LOAD,
  type RollRequest,
  type RollResult,
  type RollVariant,
  SHORT_LIVED_LOAD,
} from "../harness/roll-request.ts";
import { requireProgram } from "../install/program-of.ts";
import { recordResult } from "../results/record-result.ts";
import { checkServer } from "./server-checks.ts";
import { SERVERS, serverDeployment, titleOf } from "./server-table.ts";

const SLEEP_SECONDS = 5;

/** Each group of variants runs in its own namespaces. The groups run concurrently, because they mostly wait. */
const VARIANT_GROUPS: readonly (readonly RollVariant[])[] = [
  [
    { name: "without", lastcall: false, load: SHORT_LIVED_LOAD },
    { name: "endless", lastcall: true, load: ENDLESS_LOAD },
  ],
  [
    { name: "with", lastcall: true, load: SHORT_LIVED_LOAD },
    { name: "sleep", lastcall: false, load: SHORT_LIVED_LOAD, sleepSeconds: SLEEP_SECONDS },
    { name: "endlessSleep", lastcall: false, load: ENDLESS_LOAD, sleepSeconds: SLEEP_SECONDS },
    {
      name: "preload",
      lastcall: true,
      load: ENDLESS_LOAD,
      annotations: { "lastcall.dev/preload": "http1", "lastcall.dev/drain-timeout": "10s" },
    },
  ],
];

describe("with lastcall, no request fails in a rolling update", () => {
  test.concurrent.for(SERVERS.map((row) => ({ row, title: titleOf(row) })))("of $title", async ({ row }, context) => {
    const program = await requireProgram(row.program, context);
    const scratch = await mkdtemp(join(tmpdir(), "server-"));
    try {
      const deployment = serverDeployment(row, program, scratch);
      const rollouts = VARIANT_GROUPS.map((variants) => runRollout({ deployment, variants }, context));
      // Both rollouts have to end before the scratch folder is removed.
      await Promise.allSettled(rollouts);
      const results = await Promise.all(rollouts);
      const check = checkServer(row, program, mergeResults(results));
      await recordResult(check.result);
      expect(check.failures).toEqual([]);
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  });
});

function runRollout(request: RollRequest, context: CaseContext): Promise<RollResult> {
  return insideNamespaces(join(import.meta.dirname, "../harness/roll-inside.ts"), request, context);
}

function mergeResults(results: readonly RollResult[]): RollResult {
  const manager = results.some((result) => result.manager === "node") ? "node" : "native";
  return { manager, outcomes: Object.assign({}, ...results.map(({ outcomes }) => outcomes)) };
}
