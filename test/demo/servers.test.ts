import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { realClock } from "../../src/demo/clock.ts";
import { createProcessTable } from "../../src/demo/pods/process-table.ts";
import { startServers } from "../../src/demo/servers.ts";
import { eventually } from "../time/eventually.ts";

/** A webhook that prints its kubeconfig and exits. */
const EXITING_WEBHOOK =
  "console.log(require('node:fs').readFileSync(process.argv.find((word) => word.startsWith('--kubeconfig=')).slice(13), 'utf8'))";

const openServers = () => process.getActiveResourcesInfo().filter((kind) => kind === "TCPServerWrap").length;

test("if the webhook does not start, its output is reported and the API server is closed", async () => {
  const scratch = mkdtempSync(join(tmpdir(), "lastcall-servers-"));
  onTestFinished(() => rmSync(scratch, { recursive: true }));
  const before = openServers();
  const started = startServers(
    { hasRelay: true, namespace: "demo" },
    {
      clock: realClock,
      processes: createProcessTable(),
      program: [process.execPath, "-e", EXITING_WEBHOOK, "--"],
      environment: {},
      scratch,
      host: "127.0.0.1",
    },
  );
  await expect(started).rejects.toThrow(/the webhook did not start; last output: .*current-context/);
  const file = join(scratch, "kubeconfig.json");
  // The file contains the API server's token, so only its owner may read it.
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file, "utf8")).toMatch(/127\.0\.0\.1:[1-9]/);
  // Counts the open servers of this process, because another program may already listen on the closed server's port.
  await eventually(() => expect(openServers()).toBe(before));
});
