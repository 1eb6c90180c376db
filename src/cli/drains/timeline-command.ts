/** `lastcall timeline`: one drain as a picture, in the terminal or as SVG. */
import type { DrainRecord } from "../../drain-history/drain-record.ts";
import { mergeDrains } from "../../drain-history/merge.ts";
import { terminalTimeline } from "../../drain-history/terminal-timeline.ts";
import { timelineSvg } from "../../drain-history/timeline-svg.ts";
import { EXIT_DONE, EXIT_ERROR } from "../exit-statuses.ts";
import type { Ports } from "../ports.ts";
import { printable } from "../printable.ts";
import { chooseDrain } from "./chosen-drain.ts";
import { printProblems } from "./drains-command.ts";
import type { TimelineRequest } from "./drains-request.ts";
import { jsonText } from "./json-text.ts";
import { openLooking } from "./look.ts";

export async function runTimeline(request: TimelineRequest, ports: Ports): Promise<number> {
  const looking = await openLooking(request, ports);
  try {
    const look = await looking.look(ports.drains.untilLeft());
    printProblems(look.ok ? "warning" : "error", look.problems, ports);
    if (!look.ok) return EXIT_ERROR;
    const chosen = chooseDrain(request.subject, mergeDrains(look.lists));
    if (!chosen.ok) {
      printProblems("error", [chosen.message], ports);
      return EXIT_ERROR;
    }
    return show(chosen.drain, request, ports);
  } finally {
    looking.close();
  }
}

function show(drain: DrainRecord, { json, svgFile }: TimelineRequest, ports: Ports): number {
  if (svgFile !== undefined) {
    try {
      ports.drains.writeFile(svgFile, timelineSvg(drain));
    } catch (cause) {
      printProblems("error", [`${svgFile} cannot be written: ${firstLine(cause)}`], ports);
      return EXIT_ERROR;
    }
  }
  if (json) ports.out(`${jsonText(drain)}\n`);
  else if (svgFile === undefined) ports.out(picture(drain, ports.drains.columns()));
  return EXIT_DONE;
}

function picture(drain: DrainRecord, columns: number): string {
  return terminalTimeline(drain, columns)
    .map((line) => `${printable(line)}\n`)
    .join("");
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split("\n", 1)[0] ?? "";
}
