/** Finds Helm before the first test: LASTCALL_HELM, or the pinned version, built once. */
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
  return join(builtFolders("helm")[0] ?? "", "helm");
}

/** Builds Helm once, in minutes. @throws if the build fails */
export function builtFolders(...names: readonly string[]): readonly string[] {
  const args = [join(ROOT, "e2e/main.ts"), "build", ...names];
  const { status, stdout } = spawnSync(process.execPath, args, {
    stdio: ["ignore", "pipe", "inherit"],
    encoding: "utf8",
  });
  if (status !== 0)
    throw new Error(
      `${names.join(" and ")} could not be built; name them in LASTCALL_HELM, LASTCALL_ETCD and LASTCALL_KUBE_APISERVER`,
    );
  return stdout.trim().split("\n");
}
