import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { withAnnotations } from "../../../src/demo/rollout/deployment.ts";
import { insideNamespaces } from "../harness/inside-namespaces.ts";
import { requireProgram } from "../install/program-of.ts";
import type { Http2ServerResult } from "../results/program-result.ts";
import { recordResult } from "../results/record-result.ts";
import type { Http2Request, Http2Result } from "./http2-inside.ts";
import { HTTP2_SERVERS, serverDeployment } from "./server-table.ts";

const DRAIN_DELAY_SECONDS = 5;
const SCRIPT = join(import.meta.dirname, "http2-inside.ts");

test("a drain with an idle HTTP/2 connection ends after the drain delay or at the deadline, never before", async (context) => {
  const scratch = await mkdtemp(join(tmpdir(), "h2-"));
  try {
    const deployments: Record<string, object> = {};
    const versions: Record<string, string> = {};
    for (const row of HTTP2_SERVERS) {
      const program = await requireProgram(row.program, context);
      versions[row.system] = `${program.version} (${program.source})`;
      deployments[row.system] = withAnnotations(serverDeployment(row, program, scratch), {
        "lastcall.dev/drain-timeout": "5s",
      });
    }
    const request: Http2Request = { deployments };
    const { manager, ends } = await insideNamespaces<Http2Result>(SCRIPT, request, context);
    for (const { system } of HTTP2_SERVERS) {
      const endByPattern = ends[system];
      if (endByPattern === undefined) throw new Error(`${system} has no result`);
      const { first, later, large } = endByPattern;
      const result: Http2ServerResult = {
        kind: "http2",
        system,
        version: versions[system] ?? "",
        manager,
        first,
        later,
        large,
      };
      await recordResult(result);
    }
    // Which of the two outcomes a drain has depends on the side of the connection that sent the last bytes. With either outcome a
    // drain takes at least the drain delay.
    for (const end of Object.values(ends).flatMap((endsByPattern) => Object.values(endsByPattern))) {
      expect(["drained", "timeout"]).toContain(end.outcome);
      expect(end.drainSeconds).toBeGreaterThanOrEqual(DRAIN_DELAY_SECONDS);
    }
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
});
