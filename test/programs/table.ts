/** `npm run table:programs`: writes docs/systems.md from what the last `npm run test:programs` measured. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { RESULTS_FILE } from "./results/record-result.ts";
import { resultLines } from "./results/result-lines.ts";
import { systemsPage } from "./results/systems-page.ts";
import { SERVERS, titleOf } from "./servers/server-table.ts";

const PAGE = join(import.meta.dirname, "../../docs/systems.md");

const results = resultLines(readFileSync(RESULTS_FILE, "utf8"));
const measured = new Set(
  results.map((result) => ("stopSignal" in result ? `${result.system} ${result.stopSignal}` : "")),
);
const missing = SERVERS.filter((row) => !measured.has(`${row.system} ${row.stopSignal}`));
if (missing.length === 0) writeFileSync(PAGE, systemsPage(results));
else {
  process.stderr.write(`not measured: ${missing.map(titleOf).join(", ")}; run: npm run test:programs\n`);
  process.exitCode = 1;
}
