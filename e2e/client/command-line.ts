/** Runs the project's command line against the suite's cluster. */
import { join } from "node:path";
import { attempt } from "../host/run.ts";
import type { Suite } from "./suite.ts";

const PROGRAM = join(import.meta.dirname, "../../src/lastcall.ts");

export type CommandOutput = { readonly output: string; readonly stderr: string };

/** @throws with the command's output if the command fails */
export async function runLastcall(suite: Suite, args: readonly string[]): Promise<CommandOutput> {
  const contextFlags = suite.context === undefined ? [] : ["--context", suite.context];
  const allArgs = [...args, "--kubeconfig", suite.kubeconfig, ...contextFlags];
  const { status, output, stderr } = await attempt(process.execPath, [PROGRAM, ...allArgs]);
  if (status !== 0) throw new Error(`lastcall ${args.join(" ")} ended with ${status}: ${stderr.trim()}`);
  return { output, stderr };
}
