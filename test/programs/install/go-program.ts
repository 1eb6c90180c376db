/** Servers of Go's standard library: one file without modules, built once for each text of it and each Go. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { cacheFolder } from "../../../e2e/host/cache-folder.ts";
import { exclusively } from "../../../e2e/host/exclusive.ts";
import { attempt, run } from "../../../e2e/host/run.ts";
import { announced } from "./announced.ts";
import type { Program } from "./program-of.ts";
import type { ProgramSource } from "./program-table.ts";

type GoSource = Extract<ProgramSource, { from: "go" }>;

const ROOM = join(import.meta.dirname, "..");

/** Rejects with the compiler's own words. */
export async function goProgram({ file }: GoSource): Promise<Program> {
  // Whatever Go is there; no other is downloaded.
  const env = { ...process.env, GOTOOLCHAIN: "local", CGO_ENABLED: "0", GO111MODULE: "off" };
  const asked = await attempt("go", ["env", "GOVERSION"], { env });
  if (asked.status !== 0) return { kind: "missing", why: "Go is not on PATH; it comes from https://go.dev/dl" };
  const version = asked.output.trim().replace(/^go/, "");
  const source = join(ROOM, file);
  const text = await readFile(source, "utf8");
  const name = createHash("sha256").update(version).update("\0").update(text).digest("hex").slice(0, 16);
  const folder = join(cacheFolder(process.env), "programs");
  const built = join(folder, `go-${name}`);
  const build = async () => {
    if (existsSync(built)) return;
    await mkdir(folder, { recursive: true });
    await announced(`${file}, built by Go ${version}`, () =>
      run("go", ["build", "-trimpath", "-o", `${built}.unfinished`, source], { env }),
    );
    await rename(`${built}.unfinished`, built);
  };
  await exclusively(join(folder, "go.lock"), build, () => {});
  return { kind: "found", command: [built], environment: {}, version, source: "Go" };
}
