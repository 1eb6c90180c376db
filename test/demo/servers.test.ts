import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createProcessTable } from "../../src/demo/pods/process-table.ts";
import { connects } from "../../src/demo/pods/tcp-check.ts";
import { realClock } from "../../src/demo/real-clock.ts";
import { startServers } from "../../src/demo/servers.ts";

/** A webhook that only says how the API server is reached and as whom, and leaves. */
const LEAVES =
  "console.log(require('node:fs').readFileSync(process.argv.find((word) => word.startsWith('--kubeconfig=')).slice(13), 'utf8'))";

test("a webhook that does not start leaves no API server behind, and its words are told", async () => {
  const scratch = mkdtempSync(join(tmpdir(), "lastcall-servers-"));
  onTestFinished(() => rmSync(scratch, { recursive: true }));
  const started = startServers(
    { relay: true, namespace: "demo" },
    {
      clock: realClock,
      processes: createProcessTable(),
      program: [process.execPath, "-e", LEAVES, "--"],
      environment: {},
      scratch,
      host: "127.0.0.1",
    },
  );
  await expect(started).rejects.toThrow(/the webhook did not start: .*current-context/);
  const file = join(scratch, "kubeconfig.json");
  // It holds the only key to the API server.
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const [port = ""] = /127\.0\.0\.1:([0-9]+)/.exec(readFileSync(file, "utf8"))?.slice(1) ?? [];
  expect(Number(port)).toBeGreaterThan(0);
  expect(await connects("127.0.0.1", Number(port))).toBe(false);
});
