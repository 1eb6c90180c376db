import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, inject, test } from "vitest";
import { compileSanitized } from "./sanitized.ts";

const CONVERSATIONS = 60_000;
const ANSWERS = 1_000_000;

const hasCompiler = spawnSync("gcc", ["--version"]).status === 0;
const reason = "the preloaded library's parts are not tried: the host lacks gcc (Debian: apt-get install gcc)";
if (!hasCompiler && process.env["CI"] !== undefined) throw new Error(reason);
if (!hasCompiler) process.stdout.write(`${reason}\n`);

const folder = mkdtempSync(join(tmpdir(), "lastcall-preload-parts-"));
afterAll(() => rmSync(folder, { recursive: true }));

const run = (name: string, args: readonly string[]) =>
  spawnSync(compileSanitized(name, folder), args, { encoding: "utf8" });

test.skipIf(!hasCompiler)(
  "the preloaded library's parser decides every case, and reads nothing behind cut or damaged bytes",
  () => {
    expect(run("head-cases", [])).toMatchObject({ status: 0, stdout: "", stderr: "" });
  },
);

test.skipIf(!hasCompiler)(
  "what the preloaded library writes is what its caller wrote, but for farewells behind first lines",
  () => {
    const ran = run("shim-cases", [String(inject("seed")), String(CONVERSATIONS)]);
    expect(ran).toMatchObject({ status: 0, stderr: "" });
    expect(ran.stdout).toMatch(/^[1-9][0-9]+ told, [1-9][0-9]* ended\n$/);
  },
);

test.skipIf(!hasCompiler)(
  "bodies that look like answers stay as they are, whatever calls write them and whenever clients pipeline",
  () => {
    const ran = run("answer-cases", [String(inject("seed")), String(ANSWERS)]);
    expect(ran).toMatchObject({ status: 0, stderr: "" });
    expect(
      Number(/^([0-9]+) answers, [1-9][0-9]* told, [1-9][0-9]* ended\n$/.exec(ran.stdout)?.[1]),
    ).toBeGreaterThanOrEqual(ANSWERS);
  },
);
