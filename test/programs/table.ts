/** `npm run table:programs`: writes pages of docs/ from the results of the last `npm run test:programs`. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { insertEnvoyTables, missingEnvoyCases } from "./envoy/envoy-page.ts";
import { insertIstioTable, missingIstioCases } from "./istio/istio-page.ts";
import { insertQueueTables, isQueueResult } from "./rabbitmq/queue-page.ts";
import type { OtherResult } from "./results/program-result.ts";
import { RESULTS_FILE, resultLines } from "./results/record-result.ts";
import { systemsPage } from "./results/systems-page.ts";
import { missingRolloutScenarios, rolloutsPage } from "./rollouts/rollouts-page.ts";
import { missingSleepScenarios, sleepPage } from "./rollouts/sleep-page.ts";
import { HTTP2_SERVERS, SERVERS, type ServerRow, titleOf } from "./servers/server-table.ts";

const DOCS_FOLDER = join(import.meta.dirname, "../../docs");
const SYSTEMS_PAGE = join(DOCS_FOLDER, "systems.md");
const ENVOY_PAGE = join(DOCS_FOLDER, "envoy.md");
const ROLLOUTS_PAGE = join(DOCS_FOLDER, "rollouts.md");
const SLEEP_PAGE = join(DOCS_FOLDER, "beside-sleep.md");
const QUEUES_PAGE = join(DOCS_FOLDER, "guides/rabbitmq.md");

const results = resultLines(readFileSync(RESULTS_FILE, "utf8"));
const rows = SERVERS.map((row) => ({ row, result: results.find((result) => isResultOf(row, result)) }));
const http2Results = HTTP2_SERVERS.map(({ system }) => ({
  system,
  result: results.find((result) => result.kind === "http2" && result.system === system),
}));
const queueResult = results.find(isQueueResult);
const missingResults = [
  ...rows.filter(({ result }) => result === undefined).map(({ row }) => titleOf(row)),
  ...http2Results.filter(({ result }) => result === undefined).map(({ system }) => `${system} with HTTP/2`),
  ...(queueResult === undefined ? ["RabbitMQ"] : []),
  ...missingEnvoyCases(results),
  ...missingIstioCases(results),
];
if (missingResults.length === 0 && queueResult !== undefined) {
  writeFileSync(SYSTEMS_PAGE, systemsPage([...rows, ...http2Results].flatMap(({ result }) => result ?? [])));
  writeFileSync(ENVOY_PAGE, insertIstioTable(insertEnvoyTables(readFileSync(ENVOY_PAGE, "utf8"), results), results));
  writeFileSync(QUEUES_PAGE, insertQueueTables(readFileSync(QUEUES_PAGE, "utf8"), queueResult));
} else {
  process.stderr.write(
    `docs/systems.md, docs/envoy.md and docs/guides/rabbitmq.md are not written; run npm run test:programs for ${missingResults.join(", ")}\n`,
  );
  process.exitCode = 1;
}

// Missing results of rollouts are not an error: only `npm run bench:rollouts` measures rollouts, and takes longer than a test run.
const missingScenarios = missingRolloutScenarios(results);
if (missingScenarios.length === 0) writeFileSync(ROLLOUTS_PAGE, rolloutsPage(results));
else
  process.stderr.write(
    `docs/rollouts.md is not written; run npm run bench:rollouts for ${missingScenarios.join("; ")}\n`,
  );

const missingSleepResults = missingSleepScenarios(results);
if (missingSleepResults.length === 0) writeFileSync(SLEEP_PAGE, sleepPage(results));
else
  process.stderr.write(
    `docs/beside-sleep.md is not written; run npm run bench:rollouts for ${missingSleepResults.join("; ")}\n`,
  );

function isResultOf(row: ServerRow, result: OtherResult): boolean {
  return result.system === row.system && "stopSignal" in result && result.stopSignal === row.stopSignal;
}
