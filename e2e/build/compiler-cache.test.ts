import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { compilerCache } from "./compiler-cache.ts";

let cache = "";
beforeEach(() => {
  cache = mkdtempSync(join(tmpdir(), "lastcall-compiler-"));
});
afterEach(() => rmSync(cache, { recursive: true, force: true }));

describe("the compiler's cache", () => {
  test("is shared by all builds of a process, and deleted at the end of the process", async () => {
    const own = compilerCache(cache, "own");
    const folder = await own.folder();
    expect(await own.folder()).toBe(folder);
    expect(existsSync(folder)).toBe(true);
    await own.close();
    expect(readdirSync(cache)).toEqual([]);
  });

  test("of a running process is not deleted by other builds", async () => {
    const other = compilerCache(cache, "other");
    const folder = await other.folder();
    const own = compilerCache(cache, "own");
    await own.folder();
    expect(existsSync(folder)).toBe(true);
    await Promise.all([own.close(), other.close()]);
  });

  test("of a killed process is deleted by the next build", async () => {
    mkdirSync(join(cache, "compiler-left/object"), { recursive: true });
    writeFileSync(join(cache, "compiler-left.lock"), "");
    const own = compilerCache(cache, "own");
    await own.folder();
    expect(readdirSync(cache).sort()).toEqual(["compiler-own", "compiler-own.lock"]);
    await own.close();
  });

  test("is not created before the first build", async () => {
    await compilerCache(cache, "own").close();
    expect(readdirSync(cache)).toEqual([]);
  });
});
