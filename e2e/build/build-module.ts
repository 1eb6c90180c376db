/**
 * Builds the programs of a Go module once and caches them by their inputs: the module's files, the Go version, the target and
 * the flags. A build gets its final path, by a rename, when it is complete.
 */
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { withFileLock } from "../host/file-lock.ts";
import { withParentDeathSignal } from "../host/run.ts";
import type { CompilerCache } from "./compiler-cache.ts";
import { writeCompletedModfile } from "./completed-source.ts";
import { GO_MODULES, type GoModule, type ModuleName } from "./module-table.ts";

const MODULES_FOLDER = join(import.meta.dirname, "..", "modules");

export type BuildContext = {
  /** The folder of finished builds. */
  readonly cache: string;
  readonly goCache: CompilerCache;
  readonly print: (line: string) => void;
};

/** Returns the folder with the module's programs, and builds them if they are not cached. Rejects with the end of Go's output. */
export async function buildModule(
  name: ModuleName,
  buildContext: BuildContext,
): Promise<{ readonly binaries: string }> {
  const module: GoModule = GO_MODULES[name];
  const binaries = join(buildContext.cache, "bin", `${name}-${buildKey(name, module)}`);
  if (isComplete(binaries, module)) return { binaries };
  const lockFile = join(buildContext.cache, "lock", `${name}.lock`);
  return withFileLock(
    lockFile,
    async () => {
      if (!isComplete(binaries, module)) await compile({ name, module, binaries, buildContext });
      return { binaries };
    },
    () => buildContext.print(`${name}: waiting for another process that builds the same module`),
  );
}

function isComplete(binaries: string, module: GoModule): boolean {
  return module.programs.every((program) => existsSync(join(binaries, program)));
}

function buildKey(name: ModuleName, module: GoModule): string {
  const hash = createHash("sha256");
  const folder = join(MODULES_FOLDER, name);
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((file) => join(folder, file));
  for (const file of files.sort()) if (statSync(file).isFile()) hash.update(readFileSync(file));
  hash.update(JSON.stringify([module, goVersion(name)]));
  return hash.digest("hex").slice(0, 16);
}

/** Returns Go's version and target for this module: its go.mod may require a newer Go than the host's. */
function goVersion(name: ModuleName): string {
  const { status, stdout, error } = spawnSync("go", ["version"], { cwd: join(MODULES_FOLDER, name), encoding: "utf8" });
  if (status !== 0) {
    throw new Error(
      `${name}: "go version" failed (${error?.message ?? `exit ${status}`}). Install Go from https://go.dev/dl to build the module.`,
    );
  }
  return stdout.trim();
}

type Compilation = {
  readonly name: ModuleName;
  readonly module: GoModule;
  readonly binaries: string;
  readonly buildContext: BuildContext;
};

async function compile({ name, module, binaries, buildContext }: Compilation): Promise<void> {
  const startedMs = Date.now();
  buildContext.print(`${name}: building ${module.programs.join(", ")}`);
  // A compiler may outlive a killed build, so each build has its own folder.
  for (const abandoned of listUnfinished(binaries)) rmSync(abandoned, { recursive: true, force: true });
  const unfinished = `${binaries}.unfinished-${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  const target = module.output === undefined ? `${unfinished}/` : join(unfinished, module.output);
  const flags = ["-trimpath", "-ldflags", ["-s", "-w", ...module.link].join(" "), "-o", target];
  const goCacheFolder = await buildContext.goCache.folder();
  const scratch = join(goCacheFolder, "completed");
  const source =
    module.completion === undefined
      ? []
      : [`-modfile=${writeCompletedModfile(module.completion, join(MODULES_FOLDER, name), scratch)}`];
  await runGo(name, ["build", ...source, ...flags, ...module.packages], goCacheFolder);
  rmSync(binaries, { recursive: true, force: true });
  renameSync(unfinished, binaries);
  const megabytes = module.programs.map((program) => statSync(join(binaries, program)).size / 1e6);
  const sum = Math.round(megabytes.reduce((all, one) => all + one, 0));
  buildContext.print(`${name}: built in ${Math.round((Date.now() - startedMs) / 1000)} s, ${sum} MB`);
}

function listUnfinished(binaries: string): readonly string[] {
  const folder = dirname(binaries);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.startsWith(`${basename(binaries)}.unfinished`))
    .map((name) => join(folder, name));
}

/** Runs Go at low priority, so that a build does not starve other programs. */
function runGo(name: ModuleName, args: readonly string[], goCacheFolder: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const [command, commandArgs] = withParentDeathSignal("nice", ["-n", "15", "go", ...args]);
    const child = spawn(command, commandArgs, {
      cwd: join(MODULES_FOLDER, name),
      env: { ...process.env, CGO_ENABLED: "0", GOCACHE: goCacheFolder, GOFLAGS: "-mod=readonly -buildvcs=false" },
      stdio: ["ignore", "ignore", "pipe"],
    });
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      stderr = (stderr + chunk).slice(-4000);
    });
    child.once("error", reject);
    child.once("close", (status) =>
      status === 0 ? resolve() : reject(new Error(`${name}: "go build" ended with ${status}:\n${stderr.trimEnd()}`)),
    );
  });
}
