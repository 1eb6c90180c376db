/** `lastcall drains`: what the replicas remember, once or as it comes. */
import type { DrainRecord } from "../../drain-history/drain-record.ts";
import { mergeDrains } from "../../drain-history/merge.ts";
import { EXIT_DONE, EXIT_ERROR } from "../exit-statuses.ts";
import type { Ports } from "../ports.ts";
import { jsonText, printable } from "../terminal-text.ts";
import type { DrainsListRequest, DrainsRequest } from "./drains-request.ts";
import { ageText, tableFor } from "./drains-table.ts";
import { openLooking } from "./look.ts";
import { watchDrains } from "./watch-drains.ts";

export async function runDrains(request: DrainsListRequest, ports: Ports): Promise<number> {
  const looking = await openLooking(request, ports);
  try {
    if (request.watch) return await watchDrains(request, looking, ports);
    const look = await looking.look(ports.drains.untilLeft());
    printProblems(look.ok ? "warning" : "error", look.problems, ports);
    if (!look.ok) return EXIT_ERROR;
    const drains = mergeDrains(look.lists);
    if (request.json) ports.out(`${jsonText({ version: 1, drains })}\n`);
    else if (drains.length === 0) ports.err(`${noDrains(request)}\n`);
    else {
      const nowMs = ports.drains.nowMs();
      const when = { title: "AGE", text: ({ endedAtMs }: DrainRecord) => ageText(endedAtMs, nowMs) };
      const table = tableFor({ drains, width: ports.drains.columns(), when, grows: false });
      ports.out([table.header, ...drains.map(table.row)].map((line) => `${line}\n`).join(""));
    }
    return EXIT_DONE;
  } finally {
    looking.close();
  }
}

export function printProblems(word: "warning" | "error", problems: readonly string[], ports: Ports): void {
  for (const problem of problems) ports.err(`${word}: ${printable(problem)}\n`);
}

function noDrains({ namespace }: DrainsRequest): string {
  return printable(`no drain ${namespace === undefined ? "" : `of namespace ${namespace} `}is remembered`);
}
