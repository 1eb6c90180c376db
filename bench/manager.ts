/**
 * `npm run bench:manager [-- --json] [-- --quick]`: measures the manager's cost per Pod as native binary and on Node, and that
 * of a program that only waits. Takes ten minutes; `--quick` two. Needs musl-gcc and network namespaces.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BuildError } from "../native/build/build-error.ts";
import { detectNamespaces, runInside } from "../src/demo/network/namespace-network.ts";
import { makeBuilds } from "./manager-builds.ts";
import { readOptions, USAGE } from "./manager-options.ts";

const EXIT_FAILED = 1;
const EXIT_USAGE = 64;

const args = process.argv.slice(2);
if (readOptions(args) === undefined) {
  process.stderr.write(`bench:manager: unknown arguments: ${args.join(" ")}; ${USAGE}\n`);
  process.exit(EXIT_USAGE);
}
const folder = mkdtempSync(join(tmpdir(), "lastcall-bench-"));
try {
  process.exitCode = await benchmark();
} catch (error) {
  if (!(error instanceof BuildError)) throw error;
  process.stderr.write(`bench:manager: ${error.message}\n`);
  process.exitCode = EXIT_FAILED;
} finally {
  rmSync(folder, { recursive: true });
}

async function benchmark(): Promise<number> {
  const namespaces = detectNamespaces();
  if (!namespaces.supported) {
    process.stderr.write(`bench:manager: this host cannot create a network namespace: ${namespaces.reason}\n`);
    return EXIT_FAILED;
  }
  const builds = join(folder, "builds.json");
  writeFileSync(builds, JSON.stringify(await makeBuilds(folder)));
  const stop = new AbortController();
  process.once("SIGINT", () => stop.abort());
  process.once("SIGTERM", () => stop.abort());
  return runInside({
    prefix: namespaces.prefix,
    command: [process.execPath, join(import.meta.dirname, "manager-inside.ts"), builds, ...args],
    environment: process.env,
    stop: stop.signal,
  });
}
