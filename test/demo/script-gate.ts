/** Where a script waits until the test lets it go on, so that no clock decides which of two things comes first. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

export type ScriptGate = {
  /** Shell that goes on once the gate is open. */
  readonly wait: string;
  /** Shell that opens it, and shell that is true once it is open. */
  readonly openIt: string;
  readonly isOpen: string;
  readonly open: () => void;
};

/** Stays as long as the test that asks for it. */
export function scriptGate(): ScriptGate {
  const folder = mkdtempSync(join(tmpdir(), "lastcall-gate-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "open");
  const isOpen = `[ -e ${file} ]`;
  return {
    wait: `until ${isOpen}; do sleep 0.05; done`,
    openIt: `: > ${file}`,
    isOpen,
    open: () => writeFileSync(file, ""),
  };
}
