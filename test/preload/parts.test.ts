import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, inject, test } from "vitest";
import { compileSanitized } from "./sanitized.ts";

const MIN_EXCHANGES = 60_000;
const MIN_RESPONSES = 1_000_000;

const hasCompiler = spawnSync("gcc", ["--version"]).status === 0;
const reason = "the parts of the preload library are not tested: the host lacks gcc (Debian: apt-get install gcc)";
if (!hasCompiler && process.env["CI"] !== undefined) throw new Error(reason);
if (!hasCompiler) process.stdout.write(`${reason}\n`);

const folder = mkdtempSync(join(tmpdir(), "lastcall-preload-parts-"));
afterAll(() => rmSync(folder, { recursive: true }));

const run = (name: string, args: readonly string[]) =>
  spawnSync(compileSanitized(name, folder), args, { encoding: "utf8" });

test.skipIf(!hasCompiler)(
  "the preload library's parser of HTTP heads classifies every case, and does not read beyond truncated or damaged input",
  () => {
    expect(run("head-cases", [])).toMatchObject({ status: 0, stdout: "", stderr: "" });
  },
);

test.skipIf(!hasCompiler)(
  "the preload library writes its caller's bytes unchanged, and adds only a header after a status line",
  () => {
    const result = run("shim-cases", [String(inject("seed")), String(MIN_EXCHANGES)]);
    expect(result).toMatchObject({ status: 0, stderr: "" });
    expect(result.stdout).toMatch(/^[1-9][0-9]+ changed, [1-9][0-9]* ended\n$/);
  },
);

test.skipIf(!hasCompiler)(
  "the preload library does not change bodies that contain bytes of a response, for any write calls and any pipelining",
  () => {
    const ran = run("response-cases", [String(inject("seed")), String(MIN_RESPONSES)]);
    expect(ran).toMatchObject({ status: 0, stderr: "" });
    expect(
      Number(/^([0-9]+) responses, [1-9][0-9]* changed, [1-9][0-9]* ended\n$/.exec(ran.stdout)?.[1]),
    ).toBeGreaterThanOrEqual(MIN_RESPONSES);
  },
);
