/** Around all cases: lastcall is installed once, and gone at the end. */
import { install, uninstall } from "./client/installation.ts";
import { readSuite } from "./client/suite.ts";

// biome-ignore lint/style/noDefaultExport: vitest calls the default export of a global setup
export default async function setup(): Promise<() => Promise<void>> {
  const suite = readSuite(process.env);
  // What an earlier run left in an odd state must not decide this one.
  await uninstall(suite);
  await install(suite);
  return () => uninstall(suite);
}
