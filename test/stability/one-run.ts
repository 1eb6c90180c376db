/** Runs the test runner once under one condition, and collects the failures. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Condition } from "./conditions.ts";

const ROOT = join(import.meta.dirname, "../..");

export type Failure = { readonly test: string; readonly message: string };
export type RunResult = {
  readonly condition: string;
  readonly tests: number;
  readonly failures: readonly Failure[];
  readonly seconds: number;
};

/** The fields of the runner's JSON report that are used here. */
type Report = {
  readonly numTotalTests: number;
  readonly success: boolean;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages?: readonly string[];
    }[];
  }[];
};

export type SuiteSelection = {
  /** A script of package.json: `test`, `test:processes`, `test:programs`, `e2e`. */
  readonly suite: string;
  /** Arguments for the test runner, such as files. */
  readonly args: readonly string[];
};

export async function runOnce(condition: Condition, { suite, args }: SuiteSelection): Promise<RunResult> {
  const folder = mkdtempSync(join(tmpdir(), "lastcall-stability-"));
  const file = join(folder, "report.json");
  // The e2e suite has its own arguments before those of the test runner.
  const suiteArgs = suite === "e2e" ? ["--install", "--"] : [];
  const runnerArgs = ["--reporter=json", `--outputFile=${file}`, ...condition.args, ...args];
  const npmArgs = ["run", suite, "--", ...suiteArgs, ...runnerArgs];
  const startedMs = performance.now();
  try {
    // A separate process group, so that the run can be stopped without this program.
    const child = spawn("npm", npmArgs, { cwd: ROOT, stdio: "ignore", detached: true });
    const endCondition = condition.start(child.pid ?? 0);
    const abort = () => {
      endCondition();
      process.kill(-(child.pid ?? 0), "SIGKILL");
      process.exit(1);
    };
    process.once("SIGINT", abort);
    const [code] = await once(child, "exit");
    process.off("SIGINT", abort);
    endCondition();
    const seconds = (performance.now() - startedMs) / 1_000;
    return { condition: condition.name, seconds, ...readResult(file, Number(code)) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function readResult(file: string, code: number): Pick<RunResult, "tests" | "failures"> {
  let report: Report;
  try {
    report = JSON.parse(readFileSync(file, "utf8")) as Report;
  } catch {
    return { tests: 0, failures: [{ test: "the whole run", message: `no report, exit status ${code}` }] };
  }
  const failures = report.testResults.flatMap((result) => {
    const file = result.name.replace(`${ROOT}/`, "");
    const tests = result.assertionResults
      .filter(({ status }) => status === "failed")
      .map((assertion) => ({ test: `${file} > ${assertion.fullName}`, message: assertion.failureMessages?.[0] ?? "" }));
    return tests.length === 0 && result.status === "failed" ? [{ test: file, message: result.message }] : tests;
  });
  // An error outside of the tests fails the run too.
  if (failures.length === 0 && code !== 0)
    failures.push({ test: "the whole run", message: `exit status ${code}, no failed test` });
  return { tests: report.numTotalTests, failures };
}
