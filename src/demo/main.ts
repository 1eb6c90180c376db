/** `lastcall demo`: reads flags, selects a network, runs the demo, and removes all its processes and files. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Fault } from "../fault.ts";
import { problemText } from "../settings/read-settings.ts";
import { runDemo } from "./demo-run.ts";
import { EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK, EXIT_USAGE } from "./exit-statuses.ts";
import { createLoopbackNetwork } from "./network/loopback-network.ts";
import { createNamespaceNetwork, detectNamespaces, runInside } from "./network/namespace-network.ts";
import type { PodNetwork } from "./network/pod-network.ts";
import { DEMO_HELP, type DemoOptions, readOptions } from "./options.ts";
import { createProcessTable } from "./pods/process-table.ts";
import { prepareRun } from "./prepared-run.ts";

const INSIDE_NAMESPACES = "inside-namespaces";

const LASTCALL = fileURLToPath(new URL("../lastcall.ts", import.meta.url));

export async function main(args: readonly string[]): Promise<number> {
  const isInside = args[0] === INSIDE_NAMESPACES;
  const flags = isInside ? args.slice(1) : args;
  const { settings: options, problems, help } = readOptions(flags);
  if (help) {
    process.stdout.write(DEMO_HELP);
    return EXIT_OK;
  }
  if (problems.length > 0) return reportProblems(EXIT_USAGE, problems.map(problemText));
  if (!existsSync(LASTCALL))
    return reportProblems(EXIT_FAILED, [
      "The demo runs only in a clone of the repository; run npm ci && npm run demo there",
    ]);
  if (isInside) return runInProcess(options, createNamespaceNetwork, true);
  const support = options.network === "loopback" ? undefined : detectNamespaces();
  if (support?.supported === true) {
    const stop = new AbortController();
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => stop.abort());
    return runInside({
      prefix: support.prefix,
      command: [process.execPath, LASTCALL, "demo", INSIDE_NAMESPACES, ...flags],
      environment: process.env,
      stop: stop.signal,
    });
  }
  if (options.network === "namespace")
    return reportProblems(EXIT_USAGE, [
      `--network: cannot create network namespaces (${support?.reason ?? ""}); use --network loopback.`,
    ]);
  return runInProcess(options, async () => createLoopbackNetwork(), false);
}

async function runInProcess(
  options: DemoOptions,
  makeNetwork: () => Promise<PodNetwork>,
  isInside: boolean,
): Promise<number> {
  const processes = createProcessTable();
  const scratch = mkdtempSync(join(tmpdir(), "lastcall-demo-"));
  process.on("exit", () => {
    processes.killAll();
    rmSync(scratch, { recursive: true, force: true });
  });
  const removeListeners = exitWhenStopped(isInside);
  try {
    const network = await makeNetwork();
    const prepared = await prepareRun(options, network, environmentVariables(["PATH", "HOME", "LANG"]));
    if (prepared.problems.length > 0) return reportProblems(EXIT_USAGE, prepared.problems);
    const nodeEnvironment = environmentVariables(["NODE_OPTIONS", "NODE_COMPILE_CACHE"]);
    const program = [process.execPath, LASTCALL];
    return await runDemo(prepared, { network, processes, scratch, program, nodeEnvironment });
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return reportProblems(EXIT_FAILED, [error.message]);
  } finally {
    processes.killAll();
    removeListeners();
  }
}

/** Exits on Ctrl-C, on SIGTERM and, inside the namespaces, when the outer demo exits. @returns a function that removes the listeners */
function exitWhenStopped(isInside: boolean): () => void {
  const exit = () => process.exit(EXIT_INTERRUPTED);
  process.on("SIGINT", exit).on("SIGTERM", exit);
  // A reader that exits, as in `lastcall demo | head`, causes EPIPE.
  process.stdout.on("error", exit);
  // Standard input ends when the outer demo exits.
  if (isInside) process.stdin.once("end", exit).once("error", exit).resume();
  return () => {
    process.off("SIGINT", exit).off("SIGTERM", exit);
    if (isInside) process.stdin.off("end", exit).destroy();
  };
}

function reportProblems(status: number, problems: readonly string[]): number {
  for (const problem of problems) process.stderr.write(`lastcall demo: ${problem}\n`);
  return status;
}

function environmentVariables(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
