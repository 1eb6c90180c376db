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

const results = resultLines(readFileSync(RESULTS_FILE, "utf8"));
const rows = SERVERS.map((row) => ({ row, result: results.find((result) => isResultOf(row, result)) }));
const http2Results = HTTP2_SERVERS.map(({ system }) => ({
  system,
  result: results.find((result) => result.kind === "http2" && result.system === system),
}));
const queueResult = results.find(isQueueResult);

writePage({
  page: "systems.md",
  command: "test:programs",
  missingResults: [
    ...rows.filter(({ result }) => result === undefined).map(({ row }) => titleOf(row)),
    ...http2Results.filter(({ result }) => result === undefined).map(({ system }) => `${system} with HTTP/2`),
  ],
  textOf: () => systemsPage([...rows, ...http2Results].flatMap(({ result }) => result ?? [])),
});
writePage({
  page: "envoy.md",
  command: "test:programs",
  missingResults: [...missingEnvoyCases(results), ...missingIstioCases(results)],
  textOf: (page) => insertIstioTable(insertEnvoyTables(page, results), results),
});
writePage({
  page: "guides/rabbitmq.md",
  command: "test:programs",
  missingResults: queueResult === undefined ? ["RabbitMQ"] : [],
  textOf: (page) => (queueResult === undefined ? page : insertQueueTables(page, queueResult)),
});
writePage({
  page: "rollouts.md",
  command: "bench:rollouts",
  missingResults: missingRolloutScenarios(results),
  textOf: () => rolloutsPage(results),
});
writePage({
  page: "beside-sleep.md",
  command: "bench:rollouts",
  missingResults: missingSleepScenarios(results),
  textOf: () => sleepPage(results),
});

type GeneratedPage = {
  /** Path below `docs`. */
  readonly page: string;
  /** The command that measures the results. */
  readonly command: string;
  readonly missingResults: readonly string[];
  readonly textOf: (page: string) => string;
};

/** Writes a page only if all its results exist. Missing results of the slow `bench:rollouts` are not an error. */
function writePage({ page, command, missingResults, textOf }: GeneratedPage): void {
  const file = join(DOCS_FOLDER, page);
  if (missingResults.length === 0) {
    writeFileSync(file, textOf(readFileSync(file, "utf8")));
    return;
  }
  process.stderr.write(`docs/${page} is not written; run npm run ${command} for ${missingResults.join("; ")}\n`);
  if (command === "test:programs") process.exitCode = 1;
}

function isResultOf(row: ServerRow, result: OtherResult): boolean {
  return result.system === row.system && "stopSignal" in result && result.stopSignal === row.stopSignal;
}
