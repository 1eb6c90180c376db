/**
 * `npm run e2e`: runs `cases/` on a real cluster, one file after the other. Without `--context` it uses the cluster of
 * `npm run cluster`, which is stopped afterwards unless it was running before. Other arguments go to vitest.
 */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { compilerCache } from "./build/compiler-cache.ts";
import { type Suite, suiteEnvironment } from "./client/suite.ts";
import { stateFolder } from "./cluster/state-folder.ts";
import { readStatus } from "./cluster/status.ts";
import { E2E_USAGE, type E2eOptions, readE2eOptions } from "./e2e-options.ts";
import { prepareSuiteOnExistingCluster } from "./foreign-suite.ts";
import { cacheFolder } from "./host/cache-folder.ts";
import { runOneSuiteAtATime, runOnOwnCluster } from "./own-suite.ts";

const ROOT = join(import.meta.dirname, "..");
const print = (line: string): void => void process.stderr.write(`${line}\n`);
const cache = cacheFolder(process.env);
const buildContext = { cache, goCache: compilerCache(cache, randomUUID()), print };

type Environment = Readonly<Record<string, string>>;

type Folder = "cases" | "bench" | "others" | "harness";

/** Runs vitest with its output unchanged, and returns its exit status. */
function runCases(folder: Folder, vitestArgs: readonly string[], env: Environment): Promise<number> {
  const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
  const config = join(import.meta.dirname, "vitest.config.ts");
  return new Promise((resolve, reject) => {
    const child = spawn(
      process.execPath,
      [vitest, "run", "--config", config, "--dir", join(import.meta.dirname, folder), ...vitestArgs],
      {
        cwd: ROOT,
        env: { ...process.env, ...env },
        stdio: "inherit",
      },
    );
    // A signal must interrupt neither the cleanup of a case nor this program's stop of the cluster.
    const stop = () => void child.kill("SIGTERM");
    process.on("SIGINT", stop).on("SIGTERM", stop);
    child.once("error", reject);
    child.once("close", (status) => {
      process.off("SIGINT", stop).off("SIGTERM", stop);
      resolve(status ?? 1);
    });
  });
}

function chooseFolder({ bench, others }: E2eOptions): Folder {
  if (bench) return "bench";
  return others ? "others" : "cases";
}

async function main(): Promise<number> {
  const options = readE2eOptions(process.argv.slice(2));
  if ("message" in options) {
    print(`${options.message}\n\n${E2E_USAGE}`);
    return 64;
  }
  if (options.harness) {
    return runOneSuiteAtATime(print, async () => {
      if ((await readStatus(stateFolder())).state === "down") return runCases("harness", options.vitestArgs, {});
      print('A running cluster would be stopped by these cases. Run "npm run cluster -- down" first.');
      return 1;
    });
  }
  const run = (suite: Suite) =>
    runCases(chooseFolder(options), options.vitestArgs, suiteEnvironment({ ...suite, loads: options.loads }));
  const artifacts = join(ROOT, "build/e2e");
  if (options.context !== undefined) {
    return run(
      await prepareSuiteOnExistingCluster({ ...options, context: options.context, artifacts, env: process.env, print }),
    );
  }
  const path = (process.env["PATH"] ?? "").split(":");
  return runOnOwnCluster(
    { settings: options.settings, install: options.install, root: ROOT, artifacts, path, buildContext },
    run,
  );
}

try {
  process.exitCode = await main();
} catch (error) {
  print(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
} finally {
  await buildContext.goCache.close();
}
