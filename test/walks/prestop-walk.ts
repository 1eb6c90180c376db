/** Prints the files whose code is executed for the preStop calls of a Pod with one container, until the calls are answered. */
import { startCoverage } from "./executed-files.ts";
import { startManager } from "./walked-manager.ts";

const manager = await startManager({
  hooks: [{ container: "app", role: "app" }],
  ...{ drainDelayMs: 10, quietPeriodMs: 1_000, drainTimeoutMs: 5_000 },
});
await manager.waitForLog('"listening"');
const stopCoverage = startCoverage();
await Promise.all([manager.call("GET", "/prestop/app"), manager.call("POST", "/drain")]);
const files = stopCoverage();
await manager.waitForLog('"outcome":"drained"');
process.stdout.write(JSON.stringify(files));
process.exit(0);
