/** Programs from Debian's archive. Their services are kept from starting: only the cases start programs. */
import { accessSync, constants } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { cacheFolder } from "../../../e2e/host/cache-folder.ts";
import { exclusively } from "../../../e2e/host/exclusive.ts";
import { SYSTEM_PATH } from "../../../e2e/host/requirements.ts";
import { attempt, run } from "../../../e2e/host/run.ts";
import type { Program } from "./program-of.ts";
import type { ProgramSource } from "./program-table.ts";

type DebianSource = Extract<ProgramSource, { from: "debian" }>;

/** Prints what is installed before it begins, so that a run that waits for a download does not look stuck. */
export async function announced<T>(what: string, work: () => Promise<T>): Promise<T> {
  const startedMs = performance.now();
  process.stdout.write(`installing ${what}\n`);
  const done = await work();
  process.stdout.write(`installed ${what} in ${((performance.now() - startedMs) / 1_000).toFixed(1)} s\n`);
  return done;
}

/** Asked by Debian's packages before they start a service; 101 means no. */
const SERVICE_POLICY = "/usr/sbin/policy-rc.d";

export async function debianProgram(source: DebianSource): Promise<Program> {
  const lock = join(cacheFolder(process.env), "programs", "apt.lock");
  if (fileOf(source) === undefined)
    await exclusively(
      lock,
      () => install(source),
      () => {},
    );
  const file = fileOf(source);
  if (file === undefined) return { kind: "missing", why: `${source.packages.join(" ")} brought no ${source.file}` };
  return { kind: "found", command: [file], environment: {}, version: await versionOf(source), source: "Debian" };
}

/** The same folders for every user who runs it: services live where users' PATH does not look. */
function fileOf({ file }: DebianSource): string | undefined {
  const folders = [...(process.env["PATH"] ?? "").split(":"), ...SYSTEM_PATH];
  return folders.map((folder) => join(folder, file)).find(isExecutable);
}

async function install(source: DebianSource): Promise<void> {
  // Someone else may have done it while this one waited.
  if (fileOf(source) !== undefined) return;
  const words = ["apt-get", "install", "--yes", "--quiet", "--no-install-recommends", ...source.packages];
  if (process.getuid?.() !== 0) throw new Error(`it takes root; run: ${words.join(" ")}`);
  await announced(`${source.packages.join(" ")} from Debian`, () => withoutServices(() => apt(words)));
}

async function apt(words: readonly string[]): Promise<void> {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const [program = "", ...args] = [...words, "--option=DPkg::Lock::Timeout=300"];
  const first = await attempt(program, args, { env });
  if (first.status === 0) return;
  // An index that is too old, or none at all.
  await attempt("apt-get", ["update", "--quiet", "--quiet"], { env });
  await run(program, args, { env });
}

/** Told apart from someone else's, so that one which a killed run left is taken away by the next. */
const OUR_POLICY =
  "#!/bin/sh\n# Written by lastcall's test:programs while it installs programs; may be removed.\nexit 101\n";

async function withoutServices(work: () => Promise<void>): Promise<void> {
  const there = await readFile(SERVICE_POLICY, "utf8").catch(() => "");
  if (there !== "" && there !== OUR_POLICY) return work();
  await writeFile(SERVICE_POLICY, OUR_POLICY, { mode: 0o755 });
  try {
    await work();
  } finally {
    await rm(SERVICE_POLICY, { force: true });
  }
}

/** Upstream's version: Debian's without its epoch and revision. */
async function versionOf({ packages: [first = ""] }: DebianSource): Promise<string> {
  const { output } = await attempt("dpkg-query", ["--status", first]);
  return upstreamVersion(/^Version: (.*)$/m.exec(output)?.[1] ?? "");
}

/** `1:6.0.17+ds-1` → `6.0.17`. */
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
