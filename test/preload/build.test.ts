import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { missingPrograms } from "../../native/build/host-programs.ts";
import { PRELOAD, ROOT } from "../../native/build/places.ts";
import { buildPreload, demandNothingNeeded, PROCESSORS, type ProcessorName } from "../../native/build/preload.ts";
import { runProgram } from "../../native/build/run-program.ts";

/** What each process of a Pod maps of it: for arm64 most of the file is the distance between two pages of 64 KiB. */
const LIMIT_BYTES = { x64: 12 * 1024, arm64: 68 * 1024 };
/** It is to be read whole before it is let into a Pod. */
const LIMIT_LINES = 400;

const folder = mkdtempSync(join(tmpdir(), "lastcall-preload-build-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe.each(Object.keys(PROCESSORS) as ProcessorName[])("the preloaded library for %s", (name) => {
  const missing = missingPrograms(PROCESSORS[name]);
  const reason = `the preloaded library for ${name} is not tried: the host lacks ${missing.join(" and ")}`;
  if (missing.length > 0) process.stdout.write(`${reason}\n`);

  test.skipIf(missing.length > 0)("is small, and the same bytes in whatever folder it is built", async () => {
    const here = await buildPreload(name, join(folder, `${name}.so`));
    expect(here.bytes).toBeLessThanOrEqual(LIMIT_BYTES[name]);
    const elsewhere = join(folder, `elsewhere-${name}`);
    mkdirSync(elsewhere);
    for (const part of ["native/build", "native/preload", "package.json"])
      cpSync(join(ROOT, part), join(elsewhere, part), { recursive: true });
    symlinkSync(join(ROOT, "node_modules"), join(elsewhere, "node_modules"));
    const said = await runProgram(process.execPath, ["native/build/preload-main.ts"], elsewhere);
    expect(said).toContain(`sha256 ${here.sha256}`);
  });
});

describe("the check of what a library needs", () => {
  test("refuses another library", () => {
    expect(() => demandNothingNeeded(" 0x01 (NEEDED)  Shared library: [libc.so.6]")).toThrow("needs another");
  });

  test("refuses a symbol that must be there", () => {
    const line = "     2: 0000000000000000     0 NOTYPE  GLOBAL DEFAULT  UND memcpy\n";
    expect(() => demandNothingNeeded(line)).toThrow("asks for memcpy");
  });
});

test("the preloaded library's source can be read whole", () => {
  const lines = readdirSync(PRELOAD).flatMap((file) => readFileSync(join(PRELOAD, file), "utf8").split("\n"));
  expect(lines.filter((line) => line !== "").length).toBeLessThanOrEqual(LIMIT_LINES);
});
