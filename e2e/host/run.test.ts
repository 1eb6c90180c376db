import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { childrenOf, identityOf } from "./process-identity.ts";
import { attempt, run } from "./run.ts";
import { waitUntil } from "./wait.ts";

const RUN = JSON.stringify(join(import.meta.dirname, "run.ts"));

describe("the call of an external program", () => {
  test("passes the input to the program and returns the output", async () => {
    expect(await run("cat", [], { input: "words" })).toBe("words");
  });

  test("fails with the command, the status and the standard error if the program fails", async () => {
    const failedRun = run("sh", ["-c", "echo no luck >&2; exit 3"]);
    await expect(failedRun).rejects.toThrow(/^sh -c .* ended with 3: no luck$/);
  });

  test("returns the status 127 if the program does not exist", async () => {
    expect(await attempt("no-such-program-of-lastcall", [])).toMatchObject({ status: 127 });
  });

  test("ends the program if the calling process is killed", async () => {
    const source = `import { run } from ${RUN}; run("sleep", ["60"]);`;
    const runner = spawn(process.execPath, ["--input-type=module", "-e", source], { stdio: "ignore" });
    await once(runner, "spawn");
    const childPid = await waitUntil({ condition: "the program runs", withinMs: 15_000 }, () =>
      childrenOf(runner.pid ?? 0).find((pid) => readFileSync(`/proc/${pid}/comm`, "utf8") === "sleep\n"),
    );
    runner.kill("SIGKILL");
    const hasEnded = () => (identityOf(childPid) === undefined ? true : undefined);
    expect(await waitUntil({ condition: "the program has ended", withinMs: 5_000 }, hasEnded)).toBe(true);
  });
});
