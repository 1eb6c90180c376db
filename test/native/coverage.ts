/** Checks that the compiler compiles all of the manager's source natively. */
import { measureCoverage } from "../../native/build/coverage.ts";
import { installLocked } from "../../native/build/install-locked.ts";
import { TOOLCHAIN } from "../../native/build/paths.ts";

await installLocked(TOOLCHAIN);
const { analyzedCount, nativeCount, report } = await measureCoverage();
process.stdout.write(`${nativeCount} of ${analyzedCount} statements compile natively\n`);
if (analyzedCount === 0 || nativeCount !== analyzedCount) {
  process.stderr.write(`${report}\n`);
  process.exitCode = 1;
}
