/** Formats drains as a terminal table, one line each. Pure. */
import type { DrainRecord } from "../../drain-history/drain-record.ts";
import { releaseMs } from "../../drain-history/report-text.ts";
import { spanText } from "../../drain-history/time-text.ts";
import { printable } from "../terminal-text.ts";

const MIN_WIDTH = 60;
/** Names shrink to this width before the WHY column gets less than a third of the line. */
const NAME_WIDTH = 9;
const GAP = "  ";

const COLUMNS: readonly Column[] = [
  { title: "NAMESPACE", shrink: "later", roomyWidth: 12, text: ({ namespace }) => namespace },
  { title: "POD", shrink: "later", roomyWidth: 24, text: ({ pod }) => pod },
  { title: "OWNER", shrink: "first", roomyWidth: 18, text: ownerOf },
  { title: "OUTCOME", shrink: "never", roomyWidth: "handed-over".length, text: ({ report }) => report.outcome },
  { title: "TOOK", shrink: "never", roomyWidth: "12m 30s".length, text: ({ report }) => spanText(releaseMs(report)) },
];

type Column = {
  readonly title: string;
  /** Order of shrinking. The owner shrinks first, since a Pod's name usually contains it. */
  readonly shrink: "first" | "later" | "never";
  readonly roomyWidth: number;
  readonly text: (record: DrainRecord) => string;
};

type TableOptions = {
  readonly drains: readonly DrainRecord[];
  readonly width: number;
  /** The first column: the age in a list, the time of day in a list that grows. */
  readonly timeColumn: { readonly title: string; readonly text: (record: DrainRecord) => string };
  readonly grows: boolean;
};

type Table = { readonly header: string; readonly row: (record: DrainRecord) => string };

export function tableFor({ drains, width, timeColumn, grows }: TableOptions): Table {
  const columns: readonly Column[] = [{ ...timeColumn, shrink: "never", roomyWidth: 0 }, ...COLUMNS];
  const whole = Math.max(MIN_WIDTH, width);
  const natural = columns.map(({ title, text, roomyWidth }) =>
    drains.reduce(
      (most, drain) => Math.max(most, widthOf(text(drain))),
      Math.max(title.length, grows ? roomyWidth : 0),
    ),
  );
  const gaps = columns.length * GAP.length;
  const widths = fitWidths(natural, columns, whole - gaps - Math.floor(whole / 3));
  const sentenceWidth = whole - gaps - total(widths);
  const joined = (texts: readonly string[], why: string): string => {
    const cells = texts.map((text, at) => padded(truncateMiddle(text, widths[at] ?? 0), widths[at] ?? 0));
    return [...cells, truncateEnd(why, sentenceWidth)].join(GAP).trimEnd();
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

/** `12s`, `3m`, `2h`, `4d`. Clocks of replicas may be ahead, so the age is at least 0. */
export function ageText(endedAtMs: number, nowMs: number): string {
  if (endedAtMs === 0) return "–";
  const seconds = Math.max(0, Math.round((nowMs - endedAtMs) / 1_000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3_600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}

export function clockText(endedAtMs: number): string {
  return endedAtMs === 0 ? "–" : `${new Date(endedAtMs).toISOString().slice(11, 19)}Z`;
}

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

function whyOf({ report }: DrainRecord): string {
  return report.why.replace(/^Released \S+ after the trigger: /, "");
}

function fitWidths(natural: readonly number[], columns: readonly Column[], room: number): readonly number[] {
  const fitted = [...natural];
  for (const turn of ["first", "later"]) {
    const widest = (): number => Math.max(...fitted.filter((_, at) => columns[at]?.shrink === turn));
    while (total(fitted) > room && widest() > NAME_WIDTH) {
      const at = fitted.findIndex((width, index) => columns[index]?.shrink === turn && width === widest());
      fitted[at] = widest() - 1;
    }
  }
  return fitted;
}

function total(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, 0);
}

function truncateEnd(text: string, width: number): string {
  const letters = [...printable(text)];
  return letters.length <= width ? letters.join("") : `${letters.slice(0, Math.max(0, width - 1)).join("")}…`;
}

/** Keeps the end, where the names of one owner's Pods differ. */
function truncateMiddle(text: string, width: number): string {
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
