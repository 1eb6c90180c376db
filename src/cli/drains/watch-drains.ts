/** `lastcall drains --watch`: what is new, as it comes, until the person has seen enough. */
import type { DrainRecord } from "../../drain-history/drain-record.ts";
import { contentOf, mergeDrains, SAME_REPORT_WITHIN_MS } from "../../drain-history/merge.ts";
import { EXIT_DONE, EXIT_ERROR } from "../exit-statuses.ts";
import type { Ports } from "../ports.ts";
import { jsonText, printable } from "../terminal-text.ts";
import type { DrainsRequest } from "./drains-request.ts";
import { clockText, tableFor } from "./drains-table.ts";
import type { Look, Looking } from "./look.ts";

const POLL_MS = 2_000;

/**
 * Fails only when the first look does: a cluster that cannot be reached for a while is waited for.
 *
 * @returns the exit status, after the signal
 */
export async function watchDrains(request: DrainsRequest, looking: Looking, ports: Ports): Promise<number> {
  const left = ports.drains.untilLeft();
  const shown = createShownDrains();
  const tell = createTelling(ports);
  let print: Print | undefined;
  while (!left.aborted) {
    const look = await looking.look(left);
    // What was cut off by the person is no failure.
    if (left.aborted) break;
    tell(look, print === undefined);
    if (look.ok) {
      const fresh = [...shown.fresh(look.lists)].reverse();
      print ??= request.json ? jsonLines(ports) : tableLines(fresh, ports);
      print(fresh);
    } else if (print === undefined) return EXIT_ERROR;
    await ports.drains.sleep(POLL_MS, left);
  }
  return EXIT_DONE;
}

/** Oldest first: the newest stands where the eye is. */
type Print = (drains: readonly DrainRecord[]) => void;

function jsonLines(ports: Ports): Print {
  return (drains) => ports.out(drains.map((drain) => `${jsonText(drain)}\n`).join(""));
}

/** The widths are those of the first look, with room for what may come. */
function tableLines(first: readonly DrainRecord[], ports: Ports): Print {
  const when = { title: "ENDED", text: ({ endedAtMs }: DrainRecord) => clockText(endedAtMs) };
  const table = tableFor({ drains: first, width: ports.drains.columns(), when, grows: true });
  ports.out(`${table.header}\n`);
  return (drains) => ports.out(drains.map((drain) => `${table.row(drain)}\n`).join(""));
}

/** A problem is told when it begins, and its end when all of them are over. */
function createTelling(ports: Ports): (look: Look, isFirst: boolean) => void {
  let told: readonly string[] = [];
  return (look, isFirst) => {
    const word = isFirst && !look.ok ? "error" : "warning";
    for (const problem of look.problems) if (!told.includes(problem)) ports.err(`${word}: ${printable(problem)}\n`);
    if (told.length > 0 && look.problems.length === 0) ports.err("all replicas answer again\n");
    told = look.problems;
  };
}

/** More than the replicas together remember. Whatever is still remembered is seen again and so never forgotten here. */
const SHOWN_LIMIT = 20_000;

type ShownDrains = {
  /** Drains that were not shown yet, newest first. */
  readonly fresh: (lists: readonly (readonly DrainRecord[])[]) => readonly DrainRecord[];
};

/** A later report changes the record of a drain, which then counts as new. */
export function createShownDrains(limit: number = SHOWN_LIMIT): ShownDrains {
  const shown = new Map<string, number>();
  return {
    fresh: (lists) => {
      const fresh: DrainRecord[] = [];
      for (const record of mergeDrains(lists).toReversed()) {
        const content = contentOf(record);
        const beforeMs = shown.get(content);
        if (beforeMs === undefined || Math.abs(record.endedAtMs - beforeMs) > SAME_REPORT_WITHIN_MS) fresh.push(record);
        // Reinserted as the most recent entry.
        shown.delete(content);
        shown.set(content, Math.max(record.endedAtMs, beforeMs ?? 0));
      }
      for (const content of shown.keys()) {
        if (shown.size <= limit) break;
        shown.delete(content);
      }
      return fresh.reverse();
    },
  };
}
