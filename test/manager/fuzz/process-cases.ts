/** Runs the process tests of the manager on the sanitized binary. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Finding } from "./sanitize-part.ts";
import { FUZZ_FOLDER, ROOT, requireCleanExit, SANITIZED_MANAGER, start } from "./sanitized-process.ts";

const WRAPPER = `${FUZZ_FOLDER}/sanitized-manager`;
const REPORT = "report";

/** The sanitizers write their reports to files, because some tests compare stderr. */
const SCRIPT = `#!/bin/sh
export ASAN_OPTIONS=log_path=${FUZZ_FOLDER}/${REPORT} UBSAN_OPTIONS=print_stacktrace=1
exec ${SANITIZED_MANAGER} "$@"
`;

/** Excludes tests with a memory limit, because the sanitizers reserve more address space than a limit allows. */
const FILES = ["manager-process", "hostile-callers", "raw-http", "stalled-manager"].map(
  (name) => `test/manager/${name}.test.ts`,
);

const TIMEOUT_MS = 600_000;

export async function runProcessTests(): Promise<string> {
  for (const name of listReports()) rmSync(`${FUZZ_FOLDER}/${name}`);
  writeFileSync(WRAPPER, SCRIPT, { mode: 0o755 });
  const args = ["run", ...FILES, "-t", "native build", "--testTimeout", "120000", "--hookTimeout", "120000"];
  const run = start(`${ROOT}/node_modules/.bin/vitest`, [...args], {
    LASTCALL_MANAGER_BINARY: WRAPPER,
  });
  const timer = setTimeout(() => run.child.kill("SIGTERM"), TIMEOUT_MS);
  const end = await run.ended;
  clearTimeout(timer);
  const defects = listReports().map((name) => readFileSync(`${FUZZ_FOLDER}/${name}`, "utf8"));
  if (defects.length > 0)
    throw new Finding(`a sanitizer reports a defect:\n${defects.join("\n")}`, Buffer.from(end.stdout));
  requireCleanExit(end, [0], Buffer.from(end.stdout));
  const passedTests = /Tests .*?([0-9]+) passed/.exec(end.stdout)?.[1];
  // A filter without matches would skip every test and succeed.
  if (passedTests === undefined) throw new Finding("no case was run", Buffer.from(end.stdout));
  return `${passedTests} cases passed`;
}

function listReports(): string[] {
  return readdirSync(FUZZ_FOLDER).filter((name) => name.startsWith(`${REPORT}.`));
}
