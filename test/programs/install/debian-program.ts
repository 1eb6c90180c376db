/** Installs programs from Debian without starting their services. */
import { accessSync, constants } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { cacheFolder } from "../../../e2e/host/cache-folder.ts";
import { withFileLock } from "../../../e2e/host/file-lock.ts";
import { SYSTEM_PATH } from "../../../e2e/host/requirements.ts";
import { attempt, run } from "../../../e2e/host/run.ts";
import type { Program } from "./program-of.ts";
import type { ProgramSource } from "./program-table.ts";

type DebianSource = Extract<ProgramSource, { from: "debian" }>;

export async function logInstallation<T>(program: string, work: () => Promise<T>): Promise<T> {
  const startedMs = performance.now();
  process.stdout.write(`installing ${program}\n`);
  const result = await work();
  process.stdout.write(`installed ${program} in ${((performance.now() - startedMs) / 1_000).toFixed(1)} s\n`);
  return result;
}

/** Debian's packages run this script before they start a service; exit status 101 forbids the start. */
const SERVICE_POLICY = "/usr/sbin/policy-rc.d";

export async function provideDebianProgram(source: DebianSource): Promise<Program> {
  const lock = join(cacheFolder(process.env), "programs", "apt.lock");
  if (findFile(source) === undefined)
    await withFileLock(
      lock,
      () => installPackages(source),
      () => {},
    );
  const file = findFile(source);
  if (file === undefined)
    return { kind: "missing", reason: `${source.packages.join(" ")} did not install ${source.file}` };
  return { kind: "found", command: [file], environment: {}, version: await readVersion(source), source: "Debian" };
}

/** Also searches the system folders, because a user's PATH does not contain the folders with services. */
function findFile({ file }: DebianSource): string | undefined {
  const folders = [...(process.env["PATH"] ?? "").split(":"), ...SYSTEM_PATH];
  return folders.map((folder) => join(folder, file)).find(isExecutable);
}

async function installPackages(source: DebianSource): Promise<void> {
  if (findFile(source) !== undefined) return;
  const command = ["apt-get", "install", "--yes", "--quiet", "--no-install-recommends", ...source.packages];
  if (process.getuid?.() !== 0) throw new Error(`apt-get needs root; run as root: ${command.join(" ")}`);
  await logInstallation(`${source.packages.join(" ")} from Debian`, () => withServicesDisabled(() => runApt(command)));
}

async function runApt(command: readonly string[]): Promise<void> {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const [program = "", ...args] = [...command, "--option=DPkg::Lock::Timeout=300"];
  const firstAttempt = await attempt(program, args, { env });
  if (firstAttempt.status === 0) return;
  await attempt("apt-get", ["update", "--quiet", "--quiet"], { env });
  await run(program, args, { env });
}

/** The text identifies the file as written by these tests, so that a run can remove the file that a killed run left behind. */
const NO_START_POLICY =
  "#!/bin/sh\n# Written by lastcall's test:programs while it installs programs; may be removed.\nexit 101\n";

async function withServicesDisabled(work: () => Promise<void>): Promise<void> {
  const existingPolicy = await readFile(SERVICE_POLICY, "utf8").catch(() => "");
  if (existingPolicy !== "" && existingPolicy !== NO_START_POLICY) return work();
  await writeFile(SERVICE_POLICY, NO_START_POLICY, { mode: 0o755 });
  try {
    await work();
  } finally {
    await rm(SERVICE_POLICY, { force: true });
  }
}

async function readVersion({ packages: [first = ""] }: DebianSource): Promise<string> {
  const { output } = await attempt("dpkg-query", ["--status", first]);
  return upstreamVersion(/^Version: (.*)$/m.exec(output)?.[1] ?? "");
}

/** Removes Debian's epoch and revision: `1:6.0.17+ds-1` → `6.0.17`. */
export function upstreamVersion(debian: string): string {
  return debian
    .trim()
    .replace(/^[0-9]+:/, "")
    .replace(/-[^-]*$/, "")
    .replace(/[+~].*$/, "");
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
