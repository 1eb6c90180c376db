/** Provides Helm before the first test: LASTCALL_HELM, or the pinned version, which is built once. */
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
  project.provide("helm", process.env["LASTCALL_HELM"] ?? buildHelm());
}

function buildHelm(): string {
  return join(buildPrograms("helm")[0] ?? "", "helm");
}

/** Builds the pinned programs once, which takes minutes, and returns their folders. @throws if a build fails */
export function buildPrograms(...names: readonly string[]): readonly string[] {
  const args = [join(ROOT, "e2e/main.ts"), "build", ...names];
  const { status, stdout } = spawnSync(process.execPath, args, {
    stdio: ["ignore", "pipe", "inherit"],
    encoding: "utf8",
  });
  if (status !== 0)
    throw new Error(
      `cannot build ${names.join(" and ")}; set LASTCALL_HELM, LASTCALL_ETCD and LASTCALL_KUBE_APISERVER to existing programs`,
    );
  return stdout.trim().split("\n");
}
