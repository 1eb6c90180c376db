/** The process cases of the manager's own tests, run on the sanitized binary in place of the one that ships. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Finding } from "./sanitize-part.ts";
import { demandCleanEnd, FUZZ_FOLDER, ROOT, SANITIZED_MANAGER, start } from "./sanitized-process.ts";

const WRAPPER = `${FUZZ_FOLDER}/sanitized-manager`;
const REPORT = "report";

/** Sanitizers speak on standard error, which some cases compare: there they write files instead. */
const SCRIPT = `#!/bin/sh
export ASAN_OPTIONS=log_path=${FUZZ_FOLDER}/${REPORT} UBSAN_OPTIONS=print_stacktrace=1
exec ${SANITIZED_MANAGER} "$@"
`;

/** Not those that limit memory: the sanitizers reserve more addresses than any limit allows. */
const FILES = ["manager-process", "hostile-callers", "raw-http", "stalled-manager"].map(
  (name) => `test/manager/${name}.test.ts`,
);

const ENOUGH_FOR_ANY_HOST_MS = 600_000;

export async function processCases(): Promise<string> {
  for (const name of reports()) rmSync(`${FUZZ_FOLDER}/${name}`);
  writeFileSync(WRAPPER, SCRIPT, { mode: 0o755 });
  const args = ["run", ...FILES, "-t", "native build", "--testTimeout", "120000", "--hookTimeout", "120000"];
  const run = start(`${ROOT}/node_modules/.bin/vitest`, [...args], {
    LASTCALL_MANAGER_BINARY: WRAPPER,
  });
  const timer = setTimeout(() => run.child.kill("SIGTERM"), ENOUGH_FOR_ANY_HOST_MS);
  const end = await run.ended;
  clearTimeout(timer);
  const told = reports().map((name) => readFileSync(`${FUZZ_FOLDER}/${name}`, "utf8"));
  if (told.length > 0) throw new Finding(`a sanitizer reports a defect:\n${told.join("\n")}`, Buffer.from(end.out));
  demandCleanEnd(end, [0], Buffer.from(end.out));
  const passed = /Tests .*?([0-9]+) passed/.exec(end.out)?.[1];
  // A filter that fits nothing leaves every case out, and nothing of that fails.
  if (passed === undefined) throw new Finding("no case was run", Buffer.from(end.out));
  return `${passed} cases passed`;
}

function reports(): string[] {
  return readdirSync(FUZZ_FOLDER).filter((name) => name.startsWith(`${REPORT}.`));
}
