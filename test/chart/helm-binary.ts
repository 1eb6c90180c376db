/** Finds Helm before the first test: the one that LASTCALL_HELM names, or the pinned one, built once. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import type { TestProject } from "vitest/node";

const ROOT = join(import.meta.dirname, "../..");

declare module "vitest" {
  export interface ProvidedContext {
    helm: string;
  }
}

export function setup(project: TestProject): void {
  project.provide("helm", process.env["LASTCALL_HELM"] ?? builtHelm());
}

function builtHelm(): string {
  const args = [join(ROOT, "e2e/main.ts"), "build", "helm"];
  const { status, stdout } = spawnSync(process.execPath, args, {
    stdio: ["ignore", "pipe", "inherit"],
    encoding: "utf8",
  });
  if (status !== 0) throw new Error("Helm could not be built; name one in LASTCALL_HELM to use it instead.");
  return join(stdout.trim(), "helm");
}
