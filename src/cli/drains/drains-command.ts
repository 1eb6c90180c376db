/** Runs `lastcall drains`: prints the recorded drains of all replicas, once or continuously. */
import type { DrainRecord } from "../../drain-history/drain-record.ts";
import { mergeDrains } from "../../drain-history/merge.ts";
import { EXIT_DONE, EXIT_ERROR } from "../exit-statuses.ts";
import type { Ports } from "../ports.ts";
import { jsonText, printable } from "../terminal-text.ts";
import { openDrainsReader } from "./drains-reader.ts";
import type { DrainsListRequest, DrainsRequest } from "./drains-request.ts";
import { ageText, tableFor } from "./drains-table.ts";
import { watchDrains } from "./watch-drains.ts";

export async function runDrains(request: DrainsListRequest, ports: Ports): Promise<number> {
  const reader = await openDrainsReader(request, ports);
  try {
    if (request.watch) return await watchDrains(request, reader, ports);
    const reading = await reader.read(ports.drains.interruptSignal());
    printProblems(reading.ok ? "warning" : "error", reading.problems, ports);
    if (!reading.ok) return EXIT_ERROR;
    const drains = mergeDrains(reading.drainLists);
    if (request.json) ports.out(`${jsonText({ version: 1, drains })}\n`);
    else if (drains.length === 0) ports.err(`${noDrainsText(request)}\n`);
    else {
      const nowMs = ports.drains.nowMs();
      const timeColumn = { title: "AGE", text: ({ endedAtMs }: DrainRecord) => ageText(endedAtMs, nowMs) };
      const table = tableFor({ drains, width: ports.drains.columns(), timeColumn, isGrowing: false });
      ports.out([table.header, ...drains.map(table.row)].map((line) => `${line}\n`).join(""));
    }
    return EXIT_DONE;
  } finally {
    reader.close();
  }
}

export function printProblems(severity: "warning" | "error", problems: readonly string[], ports: Ports): void {
  for (const problem of problems) ports.err(`${severity}: ${printable(problem)}\n`);
}

function noDrainsText({ namespace }: DrainsRequest): string {
  return printable(`no drains recorded${namespace === undefined ? "" : ` in namespace ${namespace}`}`);
}
