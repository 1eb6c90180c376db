/** Installs lastcall once before all cases, and removes it at the end. */
import { install, uninstall } from "./client/installation.ts";
import { readSuite } from "./client/suite.ts";

// biome-ignore lint/style/noDefaultExport: vitest calls the default export of a global setup
export default async function setup(): Promise<() => Promise<void>> {
  const suite = readSuite(process.env);
  // Removes what an interrupted earlier run left behind.
  await uninstall(suite);
  await install(suite);
  return () => uninstall(suite);
}
