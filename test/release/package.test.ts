/** Tests the npm package: packs it, installs it into an empty folder without a registry, and runs it. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { VERSION } from "../../src/contract/version.ts";

const ROOT = join(import.meta.dirname, "../..");
const LIMIT_MS = 180_000;
const POD = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n  containers:\n  - name: app\n";

const folder = mkdtempSync(join(tmpdir(), "lastcall-package-"));
const home = join(folder, "home");
const clone = join(folder, "clone");
const installed = join(folder, "installed");
const command = join(installed, "node_modules/.bin/lastcall");

/** The environment of a user, without the variables of npm and of the test run. */
const environment = { HOME: home, PATH: `${dirname(process.execPath)}:${process.env["PATH"]}` };

function run(program: string, args: readonly string[], cwd: string, input = "") {
  const result = spawnSync(program, args, { cwd, input, encoding: "utf8", timeout: LIMIT_MS, env: environment });
  return { status: result.status, out: result.stdout, err: result.stderr };
}

beforeAll(() => {
  for (const path of [home, clone, installed]) mkdirSync(path);
  for (const part of ["package.json", "package-lock.json", ".npmrc", "LICENSE", "README.md", "release", "src", "tools"])
    cpSync(join(ROOT, part), join(clone, part), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(clone, "node_modules"));
}, LIMIT_MS);
afterAll(() => rmSync(folder, { recursive: true }));

describe("the npm package", { timeout: LIMIT_MS }, () => {
  test("installs without a registry or dependencies, and the installed command runs", () => {
    const packResult = run("npm", ["run", "package"], clone);
    expect(packResult.status, packResult.err).toBe(0);
    writeFileSync(join(installed, "package.json"), "{}");
    const tarball = join(clone, `lastcall-${VERSION}.tgz`);
    const install = run("npm", ["install", "--offline", "--no-audit", "--no-fund", tarball], installed);
    expect(install.status, install.err).toBe(0);
    expect(readdirSync(join(installed, "node_modules")).filter((name) => !name.startsWith("."))).toEqual(["lastcall"]);

    expect(run(command, ["--version"], installed)).toEqual({ status: 0, out: `${VERSION}\n`, err: "" });
    expect(run(`${dirname(command)}/kubectl-lastcall`, ["--version"], installed).out).toBe(`${VERSION}\n`);
    const inject = run(command, ["inject"], installed, POD);
    expect(inject.err).toBe("Pod default/web: injected native, grace 30 → 100 s\n");
    expect(inject.out).toContain(`image: lastcall-manager:${VERSION}`);
    expect(run(command, ["uninject"], installed, inject.out).out).toBe(POD);
    const demo = run(command, ["demo"], installed);
    expect(demo.status).toBe(1);
    expect(demo.err).toBe(
      "lastcall demo: The demo runs only in a clone of the repository; run npm ci && npm run demo there\n",
    );
  });

  test("prints the command `npm run package` if it does not contain the bundle", () => {
    const launcher = join(folder, "empty/release/lastcall.mjs");
    cpSync(join(ROOT, "release/lastcall.mjs"), launcher, { recursive: true });
    const result = run(process.execPath, [launcher, "--version"], folder);
    expect(result.status).toBe(1);
    expect(result.err).toContain("npm run package");
  });

  test("has programs that are executable in git, so that npm does not change their mode", () => {
    const { bin } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    const files: readonly string[] = [...new Set<string>(Object.values(bin))];
    const modes = run("git", ["ls-files", "--stage", "--", ...files], ROOT).out.match(/^\d+/gm);
    expect(modes).toEqual(files.map(() => "100755"));
  });
});
