/** `npm run table:programs`: writes docs/systems.md and the guide to queues from what the last `npm run test:programs` measured. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isQueues, withQueues } from "./rabbitmq/queue-page.ts";
import type { OtherResult } from "./results/program-result.ts";
import { RESULTS_FILE } from "./results/record-result.ts";
import { resultLines } from "./results/result-lines.ts";
import { systemsPage } from "./results/systems-page.ts";
import { SERVERS, type ServerRow, titleOf } from "./servers/server-table.ts";

const DOCS = join(import.meta.dirname, "../../docs");
const PAGE = join(DOCS, "systems.md");
const QUEUES = join(DOCS, "guides/rabbitmq.md");

const results = resultLines(readFileSync(RESULTS_FILE, "utf8"));
// In the order of the table, whichever case ended first.
const rows = SERVERS.map((row) => ({ row, result: results.find((result) => isOf(row, result)) }));
const queues = results.find(isQueues);
const missing = [
  ...rows.filter(({ result }) => result === undefined).map(({ row }) => titleOf(row)),
  ...(queues === undefined ? ["RabbitMQ"] : []),
];
if (missing.length === 0 && queues !== undefined) {
  writeFileSync(PAGE, systemsPage(rows.flatMap(({ result }) => result ?? [])));
  writeFileSync(QUEUES, withQueues(readFileSync(QUEUES, "utf8"), queues));
} else {
  process.stderr.write(`not measured: ${missing.join(", ")}; run: npm run test:programs\n`);
  process.exitCode = 1;
}

function isOf(row: ServerRow, result: OtherResult): boolean {
  return result.system === row.system && "stopSignal" in result && result.stopSignal === row.stopSignal;
}
