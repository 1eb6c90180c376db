/** `lastcall timeline`: one drain as a picture, in the terminal or as SVG. */
import type { DrainRecord } from "../../drain-history/drain-record.ts";
import { mergeDrains } from "../../drain-history/merge.ts";
import { terminalTimeline } from "../../drain-history/terminal-timeline.ts";
import { timelineSvg } from "../../drain-history/timeline-svg.ts";
import { nearest } from "../../policy/nearest.ts";
import { quote } from "../../policy/quote.ts";
import { EXIT_DONE, EXIT_ERROR } from "../exit-statuses.ts";
import type { Ports } from "../ports.ts";
import { jsonText, printable } from "../terminal-text.ts";
import { printProblems } from "./drains-command.ts";
import type { TimelineRequest } from "./drains-request.ts";
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

/** The drain that a person means by a Pod's name or a drain's id. Pure. */
type Chosen = { readonly ok: true; readonly drain: DrainRecord } | { readonly ok: false; readonly message: string };

/** More names than this are no help. */
const NAMES = 5;

/** @param drains newest first; of several drains of one Pod the latest is meant */
function chooseDrain(subject: string, drains: readonly DrainRecord[]): Chosen {
  const byId = drains.find(({ id }) => id === subject);
  if (byId !== undefined) return { ok: true, drain: byId };
  const named = drains.filter((drain) => (subject.includes("/") ? fullName(drain) : drain.pod) === subject);
  const [latest] = named;
  if (latest === undefined) return { ok: false, message: unknown(subject, drains) };
  const places = [...new Set(named.map(fullName))];
  if (places.length > 1) {
    return {
      ok: false,
      message: `Pods named ${quote(subject)} ended in several namespaces; say ${listed(places, "or")}`,
    };
  }
  return { ok: true, drain: latest };
}

/** Names that begin alike are nearer than any slip of the finger: Pods are asked for by their owner's name. */
function unknown(subject: string, drains: readonly DrainRecord[]): string {
  const start = `no drain of a Pod and no id ${quote(subject)} is remembered`;
  if (drains.length === 0) return `${start}; no drain is`;
  const names = [...new Set(drains.map((drain) => (subject.includes("/") ? fullName(drain) : drain.pod)))];
  const alike = names.filter((name) => name.startsWith(subject));
  const slip = nearest(subject, [...names, ...drains.map(({ id }) => id)]);
  if (alike.length > 0) return `${start}; did you mean ${listed(alike, "or")}?`;
  if (slip !== undefined) return `${start}; did you mean ${quote(slip)}?`;
  return `${start}; the latest are of ${listed(names, "and")}`;
}

function listed(names: readonly string[], last: "or" | "and"): string {
  const quoted = names.slice(0, NAMES).map(quote);
  if (names.length > NAMES) return `${quoted.join(", ")} ${last} ${names.length - NAMES} more`;
  return quoted.length < 2 ? quoted.join("") : `${quoted.slice(0, -1).join(", ")} ${last} ${quoted.at(-1)}`;
}

function fullName({ namespace, pod }: DrainRecord): string {
  return `${namespace}/${pod}`;
}
