import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
/** Input and output of `npm run generate`. */
const GENERATOR_PATHS = ["src", "docs", "charts", "changes", "CHANGELOG.md", "package.json", "tsconfig.json"];
const NEW_ROW = `  greetingDelayMs: setting({
    name: "greeting-delay",
    codec: durationMs,
    fallback: 1_000,
    summary: "A setting of a test.",
    manager: { kind: "duration" },
  }),
`;
/** Passes an annotation's value through the flags to the manager's settings. */
const SCRIPT = `
import { DEFAULT_SETTINGS } from "./src/contract/drain-settings.ts";
import { formatServeFlags, parseServeFlags } from "./src/contract/serve-flags.ts";
import { managerSettings } from "./src/injection/plan/settings.ts";
import { resolvePolicy } from "./src/policy/resolve.ts";
const layer = { scope: "pod", name: "web-0", annotations: { "lastcall.dev/greeting-delay": "7s" } } as const;
const { policy, problems } = resolvePolicy([layer], {});
const plan = { classic: false, port: 17_890, driver: "none", driverUrl: "", hooks: [], preload: "disabled" } as const;
const settings = managerSettings({ pod: {}, policy, originalSeconds: 30, chainSeconds: 0, ...plan });
const flags = formatServeFlags(settings);
const parsedMs: number = parseServeFlags(flags).settings.greetingDelayMs;
console.log(JSON.stringify({ problems, flags, parsedMs, fallback: DEFAULT_SETTINGS.greetingDelayMs }));
`;

let scratchFolder = "";

beforeAll(() => {
  mkdirSync(join(ROOT, "build"), { recursive: true });
  // The folder is inside the project, so that Node finds the project's packages.
  scratchFolder = mkdtempSync(join(ROOT, "build/new-setting-"));
  for (const path of GENERATOR_PATHS) cpSync(join(ROOT, path), join(scratchFolder, path), { recursive: true });
  const fieldsFile = join(scratchFolder, "src/policy/fields.ts");
  const before = readFileSync(fieldsFile, "utf8");
  const after = before.replace("\n  quietPeriodMs: setting({", `\n${NEW_ROW}  quietPeriodMs: setting({`);
  expect(after).not.toBe(before);
  writeFileSync(fieldsFile, after);
  writeFileSync(join(scratchFolder, "setting.ts"), SCRIPT);
  // The generator runs scripts in test/walks for docs/architecture.md. The link is temporary, because tests must not be compiled.
  const testFolder = join(scratchFolder, "test");
  symlinkSync(join(ROOT, "test"), testFolder);
  execFileSync(process.execPath, ["src/generate/main.ts"], { cwd: scratchFolder });
  unlinkSync(testFolder);
});

afterAll(() => rmSync(scratchFolder, { recursive: true, force: true }));

test("a new row of the table of settings compiles", () => {
  const compiler = join(ROOT, "node_modules/.bin/tsc");
  execFileSync(compiler, ["--noEmit", "-p", "."], { cwd: scratchFolder, encoding: "utf8", stdio: "pipe" });
});

test("the annotation of a new setting becomes a flag of the manager", () => {
  const output = execFileSync(process.execPath, ["setting.ts"], { cwd: scratchFolder, encoding: "utf8" });
  const { problems, flags, parsedMs, fallback } = JSON.parse(output);
  expect(problems).toEqual([]);
  expect(flags).toContain("--greeting-delay=7s");
  expect([parsedMs, fallback]).toEqual([7_000, 1_000]);
});

test.for([
  ["docs/reference/annotations.md", "| `lastcall.dev/greeting-delay` | duration | 1s | A setting of a test. |"],
  ["docs/config.schema.json", '"greeting-delay"'],
  ["charts/lastcall/values.schema.json", '"greeting-delay"'],
  ["charts/lastcall/values.yaml", "#   greeting-delay: 1s"],
] as const)("the generated file %s contains the new setting", ([file, text]) => {
  expect(readFileSync(join(scratchFolder, file), "utf8")).toContain(text);
});
