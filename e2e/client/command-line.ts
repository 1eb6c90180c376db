/** Runs the project's command line against the suite's cluster. */
import { join } from "node:path";
import { attempt } from "../host/run.ts";
import type { Suite } from "./suite.ts";

const PROGRAM = join(import.meta.dirname, "../../src/lastcall.ts");

export type Output = { readonly output: string; readonly complaint: string };

/** @throws with its output if it fails */
export async function lastcall(suite: Suite, args: readonly string[]): Promise<Output> {
  const context = suite.context === undefined ? [] : ["--context", suite.context];
  const words = [...args, "--kubeconfig", suite.kubeconfig, ...context];
  const { status, output, complaint } = await attempt(process.execPath, [PROGRAM, ...words]);
  if (status !== 0) throw new Error(`lastcall ${args.join(" ")} ended with ${status}: ${complaint.trim()}`);
  return { output, complaint };
}
