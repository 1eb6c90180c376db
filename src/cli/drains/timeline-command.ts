/** Runs `lastcall timeline`: draws one drain in the terminal or as SVG. */
import type { DrainRecord } from "../../drain-history/drain-record.ts";
import { mergeDrains } from "../../drain-history/merge.ts";
import { terminalTimeline } from "../../drain-history/terminal-timeline.ts";
import { timelineSvg } from "../../drain-history/timeline-svg.ts";
import { findNearest } from "../../policy/nearest.ts";
import { quote } from "../../policy/quote.ts";
import { EXIT_DONE, EXIT_ERROR } from "../exit-statuses.ts";
import type { Ports } from "../ports.ts";
import { jsonText, printable } from "../terminal-text.ts";
import { printProblems } from "./drains-command.ts";
import { openDrainsReader } from "./drains-reader.ts";
import type { TimelineRequest } from "./drains-request.ts";

export async function runTimeline(request: TimelineRequest, ports: Ports): Promise<number> {
  const reader = await openDrainsReader(request, ports);
  try {
    const reading = await reader.read(ports.drains.interruptSignal());
    printProblems(reading.ok ? "warning" : "error", reading.problems, ports);
    if (!reading.ok) return EXIT_ERROR;
    const choice = chooseDrain(request.subject, mergeDrains(reading.drainLists));
    if (!choice.ok) {
      printProblems("error", [choice.message], ports);
      return EXIT_ERROR;
    }
    return writeTimeline(choice.drain, request, ports);
  } finally {
    reader.close();
  }
}

function writeTimeline(drain: DrainRecord, { json, svgFile }: TimelineRequest, ports: Ports): number {
  if (svgFile !== undefined) {
    try {
      ports.drains.writeFile(svgFile, timelineSvg(drain));
    } catch (cause) {
      printProblems("error", [`${svgFile} cannot be written: ${firstLine(cause)}`], ports);
      return EXIT_ERROR;
    }
  }
  if (json) ports.out(`${jsonText(drain)}\n`);
  else if (svgFile === undefined) ports.out(timelineText(drain, ports.drains.columns()));
  return EXIT_DONE;
}

function timelineText(drain: DrainRecord, columns: number): string {
  return terminalTimeline(drain, columns)
    .map((line) => `${printable(line)}\n`)
    .join("");
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split("\n", 1)[0] ?? "";
}

type DrainChoice =
  | { readonly ok: true; readonly drain: DrainRecord }
  | { readonly ok: false; readonly message: string };

const NAMES_LIMIT = 5;

/** @param drains newest first; a Pod's name selects its latest drain */
function chooseDrain(subject: string, drains: readonly DrainRecord[]): DrainChoice {
  const byId = drains.find(({ id }) => id === subject);
  if (byId !== undefined) return { ok: true, drain: byId };
  const matchingDrains = drains.filter((drain) => (subject.includes("/") ? fullName(drain) : drain.pod) === subject);
  const [latest] = matchingDrains;
  if (latest === undefined) return { ok: false, message: notFoundMessage(subject, drains) };
  const fullNames = [...new Set(matchingDrains.map(fullName))];
  if (fullNames.length > 1) {
    return {
      ok: false,
      message: `Pods named ${quote(subject)} were drained in several namespaces; use ${joinNames(fullNames, "or")}`,
    };
  }
  return { ok: true, drain: latest };
}

/** Suggests prefix matches before similar names, because users often type the owner's name. */
function notFoundMessage(subject: string, drains: readonly DrainRecord[]): string {
  const messageStart = `no recorded drain has the Pod name or id ${quote(subject)}`;
  if (drains.length === 0) return `${messageStart}; no drains are recorded`;
  const names = [...new Set(drains.map((drain) => (subject.includes("/") ? fullName(drain) : drain.pod)))];
  const prefixMatches = names.filter((name) => name.startsWith(subject));
  const suggestion = findNearest(subject, [...names, ...drains.map(({ id }) => id)]);
  if (prefixMatches.length > 0) return `${messageStart}; did you mean ${joinNames(prefixMatches, "or")}?`;
  if (suggestion !== undefined) return `${messageStart}; did you mean ${quote(suggestion)}?`;
  return `${messageStart}; the latest drains are of ${joinNames(names, "and")}`;
}

function joinNames(names: readonly string[], conjunction: "or" | "and"): string {
  const quotedNames = names.slice(0, NAMES_LIMIT).map(quote);
  if (names.length > NAMES_LIMIT) return `${quotedNames.join(", ")} ${conjunction} ${names.length - NAMES_LIMIT} more`;
  return quotedNames.length < 2
    ? quotedNames.join("")
    : `${quotedNames.slice(0, -1).join(", ")} ${conjunction} ${quotedNames.at(-1)}`;
}

function fullName({ namespace, pod }: DrainRecord): string {
  return `${namespace}/${pod}`;
}
