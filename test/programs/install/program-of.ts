/** Finds a real program on this machine, installs it from Debian or PyPI, or builds it. Once per process and program. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { cacheFolder } from "../../../e2e/host/cache-folder.ts";
import { exclusively } from "../../../e2e/host/exclusive.ts";
import { attempt, run } from "../../../e2e/host/run.ts";
import { announced, debianProgram } from "./debian-program.ts";
import { PROGRAMS, type ProgramName, type ProgramSource } from "./program-table.ts";
import { pypiProgram } from "./pypi-program.ts";

export type CommandLine = {
  /** The beginning of its command line, absolute. */
  readonly command: readonly string[];
  /** What it needs beside its command, such as PYTHONPATH. */
  readonly environment: Readonly<Record<string, string>>;
};

export type FoundProgram = CommandLine & {
  readonly kind: "found";
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

/** What Vitest hands to a case: `skip` leaves it. */
export type Skipping = { readonly skip: (note: string) => never };

/** A program inside a case: where it is missing the case is skipped with the reason, in CI it fails. */
export async function requiredProgram(name: ProgramName, context: Skipping): Promise<FoundProgram> {
  const program = await programOf(name);
  return program.kind === "found" ? program : missing(program.why, context);
}

/** @throws in CI, where what cannot be tried is a failure. */
export function missing(why: string, context: Skipping): never {
  if ((process.env["CI"] ?? "") !== "") throw new Error(why);
  process.stderr.write(`skipped: ${why}\n`);
  return context.skip(why);
}

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

/** Node itself, or a server of it among this project's packages: what the interpreter runs is the row's. */
async function nodeProgram({ package: name }: Extract<ProgramSource, { from: "node" }>): Promise<Program> {
  const found = { kind: "found", command: [process.execPath], environment: {}, source: "npm" } as const;
  if (name === undefined) return { ...found, version: process.versions.node };
  const text = await readFile(join(import.meta.dirname, "../../../node_modules", name, "package.json"), "utf8");
  return { ...found, version: JSON.parse(text).version };
}

/** A server of Go's standard library: one file without modules, built once for each text of it and each Go. */
async function goProgram({ file }: Extract<ProgramSource, { from: "go" }>): Promise<Program> {
  // Whatever Go is there; no other is downloaded.
  const env = { ...process.env, GOTOOLCHAIN: "local", CGO_ENABLED: "0", GO111MODULE: "off" };
  const asked = await attempt("go", ["env", "GOVERSION"], { env });
  if (asked.status !== 0) return { kind: "missing", why: "Go is not on PATH; it comes from https://go.dev/dl" };
  const version = asked.output.trim().replace(/^go/, "");
  const source = join(import.meta.dirname, "..", file);
  const text = await readFile(source, "utf8");
  const name = createHash("sha256").update(version).update("\0").update(text).digest("hex").slice(0, 16);
  const folder = join(cacheFolder(process.env), "programs");
  const built = join(folder, `go-${name}`);
  const build = async () => {
    if (existsSync(built)) return;
    await mkdir(folder, { recursive: true });
    await announced(`${file}, built by Go ${version}`, () =>
      run("go", ["build", "-trimpath", "-o", `${built}.unfinished`, source], { env }),
    );
    await rename(`${built}.unfinished`, built);
  };
  await exclusively(join(folder, "go.lock"), build, () => {});
  return { kind: "found", command: [built], environment: {}, version, source: "Go" };
}
