/** Checks that the compiler compiles all of the manager's source natively. */
import { measureCoverage } from "../../native/build/coverage.ts";
import { installLocked } from "../../native/build/install-locked.ts";
import { TOOLCHAIN } from "../../native/build/paths.ts";

await installLocked(TOOLCHAIN);
const { analyzed, native, report } = await measureCoverage();
process.stdout.write(`${native} of ${analyzed} statements compile natively\n`);
if (analyzed === 0 || native !== analyzed) {
  process.stderr.write(`${report}\n`);
  process.exitCode = 1;
}
