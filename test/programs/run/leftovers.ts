/** Fails a run that leaves processes or temporary files behind. */
import { rmSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

/** Environment variable that marks all processes of the run. The kernel ends only those in the PID namespaces of the cases. */
const MARKING_VARIABLE = "LASTCALL_PROGRAMS_RUN";
const LIMIT_MS = 5_000;

// biome-ignore lint/style/noDefaultExport: vitest calls the default export of a global setup
export default async function setup(): Promise<() => Promise<void>> {
  // The prefix is short, because programs create sockets in this folder, and a socket's path is limited to 107 bytes.
  const folder = await mkdtemp(join(tmpdir(), "lcp-"));
  const previousTmpdir = process.env["TMPDIR"];
  process.env["TMPDIR"] = folder;
  process.env[MARKING_VARIABLE] = basename(folder);
  // If the run is interrupted, Vitest does not call the teardown, so the exit of the process removes the folder.
  const removeFolder = () => rmSync(folder, { recursive: true, force: true });
  process.once("exit", removeFolder);
  return async () => {
    process.off("exit", removeFolder);
    if (previousTmpdir === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = previousTmpdir;
    const processes = await waitForProcesses(`${MARKING_VARIABLE}=${basename(folder)}`);
    const files = await readdir(folder);
    await rm(folder, { recursive: true, force: true });
    const leftovers = [
      ...processes.map((running) => `process ${running}`),
      ...files.map((file) => `file ${join(folder, file)}`),
    ];
    if (leftovers.length > 0) throw new Error(`processes or files of this run are left: ${leftovers.join("; ")}`);
  };
}

async function waitForProcesses(mark: string): Promise<readonly string[]> {
  const untilMs = performance.now() + LIMIT_MS;
  for (;;) {
    const processes = await findMarkedProcesses(mark);
    if (processes.length === 0 || performance.now() > untilMs) return processes;
    await new Promise((done) => setTimeout(done, 200));
  }
}

/** @returns `PID COMMAND` of each process with the mark, except Vitest's workers, which end after the teardown */
async function findMarkedProcesses(mark: string): Promise<readonly string[]> {
  const processes: string[] = [];
  for (const pid of (await readdir("/proc")).filter((name) => /^[0-9]+$/.test(name) && name !== String(process.pid))) {
    const environment = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
    if (!environment.split("\0").includes(mark)) continue;
    const command = (await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")).replaceAll("\0", " ").trim();
    // A zombie has an empty command line.
    if (command !== "" && !command.includes("vitest")) processes.push(`${pid} ${command.slice(0, 120)}`);
  }
  return processes;
}
