/** Drains as a table for the terminal, one line each. Pure. */
import type { DrainRecord } from "../../drain-history/drain-record.ts";
import { releaseMs } from "../../drain-history/report-text.ts";
import { spanText } from "../../drain-history/time-text.ts";
import { printable } from "../terminal-text.ts";

/** Below this a table is no table. */
const NARROWEST = 60;
/** Names are cut to this before the sentence gets less than a third of the line. */
const NAME_WIDTH = 9;
const BETWEEN = "  ";

const COLUMNS: readonly Column[] = [
  { title: "NAMESPACE", cut: "later", roomy: 12, text: ({ namespace }) => namespace },
  { title: "POD", cut: "later", roomy: 24, text: ({ pod }) => pod },
  { title: "OWNER", cut: "first", roomy: 18, text: ownerOf },
  { title: "OUTCOME", cut: "never", roomy: "not-needed".length, text: ({ report }) => report.outcome },
  { title: "TOOK", cut: "never", roomy: "12m 30s".length, text: ({ report }) => spanText(releaseMs(report)) },
];

type Column = {
  readonly title: string;
  /** Where there is too little room. A Pod's name mostly tells its owner's. */
  readonly cut: "first" | "later" | "never";
  /** Width for drains that are still to come. */
  readonly roomy: number;
  readonly text: (record: DrainRecord) => string;
};

type TableQuestion = {
  /** Columns are as wide as these need. */
  readonly drains: readonly DrainRecord[];
  readonly width: number;
  /** The first column tells how long ago for a list, and what o'clock for a list that grows. */
  readonly when: { readonly title: string; readonly text: (record: DrainRecord) => string };
  /** More drains will follow. */
  readonly grows: boolean;
};

type Table = { readonly header: string; readonly row: (record: DrainRecord) => string };

export function tableFor({ drains, width, when, grows }: TableQuestion): Table {
  const columns: readonly Column[] = [{ ...when, cut: "never", roomy: 0 }, ...COLUMNS];
  const whole = Math.max(NARROWEST, width);
  const natural = columns.map(({ title, text, roomy }) =>
    drains.reduce((most, drain) => Math.max(most, widthOf(text(drain))), Math.max(title.length, grows ? roomy : 0)),
  );
  const gaps = columns.length * BETWEEN.length;
  const widths = fitting(natural, columns, whole - gaps - Math.floor(whole / 3));
  const sentenceWidth = whole - gaps - total(widths);
  const joined = (texts: readonly string[], why: string): string => {
    const cells = texts.map((text, at) => padded(cutInside(text, widths[at] ?? 0), widths[at] ?? 0));
    return [...cells, cutAtEnd(why, sentenceWidth)].join(BETWEEN).trimEnd();
  };
  return {
    header: joined(
      columns.map(({ title }) => title),
      "WHY",
    ),
    row: (record) =>
      joined(
        columns.map(({ text }) => text(record)),
        whyOf(record),
      ),
  };
}

/** `12s`, `3m`, `2h`, `4d` ago. Clocks of replicas may be ahead of ours. */
export function ageText(endedAtMs: number, nowMs: number): string {
  if (endedAtMs === 0) return "–";
  const seconds = Math.max(0, Math.round((nowMs - endedAtMs) / 1_000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3_600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}

/** In UTC, like the clocks of a cluster. */
export function clockText(endedAtMs: number): string {
  return endedAtMs === 0 ? "–" : `${new Date(endedAtMs).toISOString().slice(11, 19)}Z`;
}

/** How kubectl calls them for short. */
const SHORT_KINDS: ReadonlyMap<string, string> = new Map([
  ["ReplicaSet", "rs"],
  ["StatefulSet", "sts"],
  ["DaemonSet", "ds"],
  ["Deployment", "deploy"],
  ["ReplicationController", "rc"],
  ["Job", "job"],
]);

function ownerOf({ ownerKind, ownerName }: DrainRecord): string {
  return ownerName === "" ? "–" : `${SHORT_KINDS.get(ownerKind) ?? ownerKind}/${ownerName}`;
}

/** How long it took stands in a column of its own. */
function whyOf({ report }: DrainRecord): string {
  return report.why.replace(/^Released \S+ after the trigger: /, "");
}

/** Takes from the widest name, a column at a time, until all fit or every name is short. */
function fitting(natural: readonly number[], columns: readonly Column[], room: number): readonly number[] {
  const fitted = [...natural];
  for (const turn of ["first", "later"]) {
    const widest = (): number => Math.max(...fitted.filter((_, at) => columns[at]?.cut === turn));
    while (total(fitted) > room && widest() > NAME_WIDTH) {
      const at = fitted.findIndex((width, index) => columns[index]?.cut === turn && width === widest());
      fitted[at] = widest() - 1;
    }
  }
  return fitted;
}

function total(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, 0);
}

/** The beginning of a sentence says most. */
function cutAtEnd(text: string, width: number): string {
  const letters = [...printable(text)];
  return letters.length <= width ? letters.join("") : `${letters.slice(0, Math.max(0, width - 1)).join("")}…`;
}

/** Names of Pods of one owner differ at their ends. */
function cutInside(text: string, width: number): string {
  const letters = [...printable(text)];
  if (letters.length <= width) return letters.join("");
  const tail = Math.ceil((width - 1) / 2);
  return `${letters.slice(0, width - 1 - tail).join("")}…${letters.slice(letters.length - tail).join("")}`;
}

function widthOf(text: string): number {
  return [...printable(text)].length;
}

function padded(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - [...text].length));
}
