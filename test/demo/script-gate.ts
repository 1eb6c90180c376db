/** Where a script waits until the test lets it go on, so that no clock decides which of two things comes first. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

export type ScriptGate = {
  /** Shell that goes on once the gate is open. */
  readonly wait: string;
  readonly open: () => void;
};

/** Stays as long as the test that asks for it. */
export function scriptGate(): ScriptGate {
  const folder = mkdtempSync(join(tmpdir(), "lastcall-gate-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "open");
  return { wait: `until [ -e ${file} ]; do sleep 0.05; done`, open: () => writeFileSync(file, "") };
}
