/** Runs `lastcall drains --watch`: polls the replicas and prints new drains until interrupted. */
import { type DrainRecord, isRunning } from "../../drain-history/drain-record.ts";
import { contentKey, DUPLICATE_WINDOW_MS, mergeDrains } from "../../drain-history/merge.ts";
import { EXIT_DONE, EXIT_ERROR } from "../exit-statuses.ts";
import type { Ports } from "../ports.ts";
import { jsonText, printable } from "../terminal-text.ts";
import type { DrainsReader, DrainsReading } from "./drains-reader.ts";
import type { DrainsRequest } from "./drains-request.ts";
import { clockText, tableFor } from "./drains-table.ts";

const POLL_MS = 2_000;

/** Fails only if the first reading fails; later failures are retried. @returns the exit status */
export async function watchDrains(request: DrainsRequest, reader: DrainsReader, ports: Ports): Promise<number> {
  const interrupt = ports.drains.interruptSignal();
  const shownDrains = createShownDrains();
  const reportProblems = createProblemReporter(ports);
  let print: Print | undefined;
  while (!interrupt.aborted) {
    const reading = await reader.read(interrupt);
    // A reading that the interrupt aborted is not a failure.
    if (interrupt.aborted) break;
    reportProblems(reading, print === undefined);
    if (reading.ok) {
      const newDrains = [...shownDrains.selectNew(reading.drainLists)].reverse();
      print ??= request.json ? createJsonPrinter(ports) : createTablePrinter(newDrains, ports);
      print(newDrains);
    } else if (print === undefined) return EXIT_ERROR;
    await ports.drains.sleep(POLL_MS, interrupt);
  }
  return EXIT_DONE;
}

type Print = (drains: readonly DrainRecord[]) => void;

function createJsonPrinter(ports: Ports): Print {
  return (drains) => ports.out(drains.map((drain) => `${jsonText(drain)}\n`).join(""));
}

/** Column widths come from the first reading, with room for longer names. */
function createTablePrinter(firstDrains: readonly DrainRecord[], ports: Ports): Print {
  const timeColumn = { title: "ENDED", text: ({ endedAtMs }: DrainRecord) => clockText(endedAtMs) };
  const table = tableFor({ drains: firstDrains, width: ports.drains.columns(), timeColumn, isGrowing: true });
  ports.out(`${table.header}\n`);
  return (drains) => ports.out(drains.map((drain) => `${table.row(drain)}\n`).join(""));
}

/** Reports each problem once, and the recovery when all problems are gone. */
export function createProblemReporter(ports: Ports): (reading: DrainsReading, isFirst: boolean) => void {
  let reportedProblems: readonly string[] = [];
  return (reading, isFirst) => {
    const severity = isFirst && !reading.ok ? "error" : "warning";
    for (const problem of reading.problems)
      if (!reportedProblems.includes(problem)) ports.err(`${severity}: ${printable(problem)}\n`);
    if (reportedProblems.length > 0 && reading.problems.length === 0) ports.err("all replicas respond again\n");
    reportedProblems = reading.problems;
  };
}

/** More drains than all replicas store together, so a drain that a replica still stores is never evicted from this map. */
const SHOWN_LIMIT = 20_000;

type ShownDrains = {
  readonly selectNew: (drainLists: readonly (readonly DrainRecord[])[]) => readonly DrainRecord[];
};

/**
 * Keyed by content, because a later report of a drain changes the record under the same id. A drain is shown again if its
 * later report counts connections that were reset when the Pod stopped.
 */
export function createShownDrains(limit: number = SHOWN_LIMIT): ShownDrains {
  const lastEndByKey = new Map<string, number>();
  return {
    selectNew: (lists) => {
      const newDrains: DrainRecord[] = [];
      const endedDrains = mergeDrains(lists).filter((record) => !isRunning(record));
      for (const record of endedDrains.reverse()) {
        const { stopping } = record.report.resets ?? { stopping: 0 };
        const key = `${contentKey(record)} ${stopping > 0}`;
        const lastEndedMs = lastEndByKey.get(key);
        if (lastEndedMs === undefined || Math.abs(record.endedAtMs - lastEndedMs) > DUPLICATE_WINDOW_MS)
          newDrains.push(record);
        // Deleting first moves the key to the end of the map, which is evicted last.
        lastEndByKey.delete(key);
        lastEndByKey.set(key, Math.max(record.endedAtMs, lastEndedMs ?? 0));
      }
      for (const key of lastEndByKey.keys()) {
        if (lastEndByKey.size <= limit) break;
        lastEndByKey.delete(key);
      }
      return newDrains.reverse();
    },
  };
}
