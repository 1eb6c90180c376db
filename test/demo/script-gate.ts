/** Makes shell scripts wait for a file (an open gate) that the test creates, so that the order of two events is fixed. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

export type ScriptGate = {
  /** Shell command that waits until the gate is open. */
  readonly waitCommand: string;
  readonly openCommand: string;
  readonly isOpen: string;
  readonly open: () => void;
};

/** The gate is removed after the current test. */
export function scriptGate(): ScriptGate {
  const folder = mkdtempSync(join(tmpdir(), "lastcall-gate-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "open");
  const isOpen = `[ -e ${file} ]`;
  return {
    waitCommand: `until ${isOpen}; do sleep 0.05; done`,
    openCommand: `: > ${file}`,
    isOpen,
    open: () => writeFileSync(file, ""),
  };
}
