/** Reads the compiler's coverage report. Below 100 % the binary would contain a JavaScript engine. */
import { BuildError } from "./build-error.ts";
import { COMPILER, LIBC_BINDINGS, MANAGER_SOURCE, ROOT } from "./paths.ts";
import { runProgram } from "./run-program.ts";

export type Coverage = { readonly analyzedCount: number; readonly nativeCount: number; readonly report: string };

/** @throws BuildError for an unknown report format */
export async function measureCoverage(): Promise<Coverage> {
  const args = [COMPILER, "coverage", MANAGER_SOURCE, "--ffi", LIBC_BINDINGS];
  const report = await runProgram(process.execPath, args, ROOT);
  const analyzed = /statements analyzed\s+(\d+)/.exec(report)?.[1];
  const native = /compile statically\s+(\d+)/.exec(report)?.[1];
  if (analyzed === undefined || native === undefined)
    throw new BuildError(`cannot find the counts of statements in the report of 'scriptc coverage':\n${report}`);
  return { analyzedCount: Number(analyzed), nativeCount: Number(native), report };
}
