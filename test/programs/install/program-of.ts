/** Finds a real program on this machine, installs it from Debian or PyPI, or builds it. Once per process and program. */
import { debianProgram } from "./debian-program.ts";
import { goProgram } from "./go-program.ts";
import { nodeProgram } from "./node-program.ts";
import { PROGRAMS, type ProgramName, type ProgramSource } from "./program-table.ts";
import { pypiProgram } from "./pypi-program.ts";

export type FoundProgram = {
  readonly kind: "found";
  /** The beginning of its command line, absolute. */
  readonly command: readonly string[];
  /** What it needs beside its command, such as PYTHONPATH. */
  readonly environment: Readonly<Record<string, string>>;
  /** As its package says, such as `1.22.1` or `27.0.1`. */
  readonly version: string;
  /** `Debian`, `PyPI`, `npm` or `Go`. */
  readonly source: string;
};

export type MissingProgram = {
  readonly kind: "missing";
  /** A sentence: what was tried and what went wrong. */
  readonly why: string;
};

export type Program = FoundProgram | MissingProgram;

const asked = new Map<ProgramName, Promise<Program>>();

/** Never rejects: what goes wrong is the sentence of a missing program. */
export function programOf(name: ProgramName): Promise<Program> {
  const before = asked.get(name);
  if (before !== undefined) return before;
  const found = programFrom(PROGRAMS[name]).catch(
    (error: unknown): Program => ({
      kind: "missing",
      why: `${name} cannot be installed: ${error instanceof Error ? error.message : String(error)}`,
    }),
  );
  asked.set(name, found);
  return found;
}

function programFrom(source: ProgramSource): Promise<Program> {
  switch (source.from) {
    case "debian":
      return debianProgram(source);
    case "pypi":
      return pypiProgram(source);
    case "go":
      return goProgram(source);
    case "node":
      return nodeProgram(source);
  }
}
