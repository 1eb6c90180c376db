/** `npm run cluster`: starts, stops and inspects a real Kubernetes cluster of two nodes on this host, for tests and experiments. */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { buildModule } from "./build/build-module.ts";
import { compilerCache } from "./build/compiler-cache.ts";
import type { ModuleName } from "./build/module-table.ts";
import { stopCluster } from "./cluster/down.ts";
import type { ClusterSettings } from "./cluster/record.ts";
import { stateFolder } from "./cluster/state-folder.ts";
import { readStatus, statusLines } from "./cluster/status.ts";
import { ensureCluster } from "./cluster/up.ts";
import { readCommand, USAGE } from "./command-line.ts";
import { cacheFolder } from "./host/cache-folder.ts";
import { withFileLock } from "./host/file-lock.ts";
import { prepareMachine } from "./host/prepare-machine.ts";
import { buildAndImportImages } from "./images/build-and-import.ts";

/** Exit statuses: 0 success, 1 failure, 3 `status` without a usable cluster, 64 invalid arguments. */
const EXIT = { done: 0, failed: 1, notUp: 3, usage: 64 } as const;

const report = (line: string): void => void process.stderr.write(`${line}\n`);
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const ROOT = join(import.meta.dirname, "..");
const state = stateFolder();
const cache = cacheFolder(process.env);
const buildContext = { cache, goCache: compilerCache(cache, randomUUID()), print: report };
const withClusterLock = <T>(work: () => Promise<T>) =>
  withFileLock(state.lockFile, work, () => report("Waiting for another command that uses the cluster."));

async function up(settings: ClusterSettings, install: boolean): Promise<number> {
  await prepareMachine({
    installsPackages: install,
    pathFolders: (process.env["PATH"] ?? "").split(":"),
    print: report,
  });
  const { wasRunning: wasUp } = await withClusterLock(() => ensureCluster(settings, state, buildContext));
  if (wasUp) report("The cluster was already running.");
  return status(false);
}

async function down(): Promise<number> {
  const wasRunning = await withClusterLock(() => stopCluster(state));
  report(wasRunning ? "The cluster is stopped." : "No cluster was running.");
  return EXIT.done;
}

async function status(json: boolean): Promise<number> {
  const clusterStatus = await readStatus(state);
  if (json) print(JSON.stringify(clusterStatus, null, 2));
  else for (const line of statusLines(clusterStatus)) print(line);
  return clusterStatus.state === "up" ? EXIT.done : EXIT.notUp;
}

async function images(): Promise<number> {
  const clusterStatus = await readStatus(state);
  if (clusterStatus.state !== "up") {
    report('No cluster is running. Run "npm run cluster -- up" first.');
    return EXIT.notUp;
  }
  for (const name of Object.values(await buildAndImportImages(ROOT, state, buildContext.cache))) print(name);
  return EXIT.done;
}

async function build(names: readonly ModuleName[]): Promise<number> {
  for (const name of names) print((await buildModule(name, buildContext)).binaries);
  return EXIT.done;
}

async function main(args: readonly string[]): Promise<number> {
  const command = readCommand(args);
  switch (command.kind) {
    case "up":
      return up(command.settings, command.install);
    case "down":
      return down();
    case "status":
      return status(command.json);
    case "images":
      return images();
    case "build":
      return build(command.names);
    case "help":
      print(USAGE);
      return EXIT.done;
    case "invalid":
      report(`${command.message}\n\n${USAGE}`);
      return EXIT.usage;
  }
}

// The reader of the output may exit early.
process.stdout.on("error", () => {});
try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  report(error instanceof Error ? error.message : String(error));
  process.exitCode = EXIT.failed;
} finally {
  await buildContext.goCache.close();
}
