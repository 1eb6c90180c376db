/** Builds the native manager before the tests, so that both builds are tested. Later runs reuse it. */
import type { TestProject } from "vitest/node";
import { buildManager } from "../native/build/build.ts";
import { missingPrograms } from "../native/build/host-programs.ts";
import { VARIANTS } from "../native/build/variants.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The native manager's path; empty if this host cannot build it. */
    nativeManager: string;
    /** The path of the native manager that is linked with the test clock; empty if this host cannot build it. */
    clockedManager: string;
  }
}

// biome-ignore lint/style/noDefaultExport: vitest calls the default export of a global setup
export default async function setup(project: TestProject): Promise<void> {
  const isAsked = process.env["LASTCALL_BUILDS"] !== "node";
  const missing = missingPrograms(VARIANTS.x64);
  if (isAsked && missing.length === 0) {
    project.provide("nativeManager", (await buildManager("x64")).file);
    project.provide("clockedManager", (await buildManager("clocked")).file);
    return;
  }
  const lacks = `the host lacks ${missing.join(" and ")}`;
  const reason = `the native manager is not tried: ${isAsked ? lacks : "npm run test:processes does"}`;
  if (isAsked && process.env["CI"] !== undefined) throw new Error(reason);
  process.stdout.write(`${reason}\n`);
  project.provide("nativeManager", "");
  project.provide("clockedManager", "");
}
