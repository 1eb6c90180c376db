/** Formats drains as a terminal table, one line each. Pure. */
import type { DrainRecord } from "../../drain-history/drain-record.ts";
import { outcomeText, releaseMs, resetsText } from "../../drain-history/report-text.ts";
import { spanText } from "../../drain-history/time-text.ts";
import { printable } from "../terminal-text.ts";

const MIN_WIDTH = 68;
/** Names shrink to this width before the WHY column gets less than a third of the line. */
const NAME_WIDTH = 9;
const GAP = "  ";

const COLUMNS: readonly Column[] = [
  { title: "NAMESPACE", shrink: "later", reservedWidth: 12, text: ({ namespace }) => namespace },
  { title: "POD", shrink: "later", reservedWidth: 24, text: ({ pod }) => pod },
  { title: "OWNER", shrink: "first", reservedWidth: 18, text: ownerOf },
  { title: "OUTCOME", shrink: "never", reservedWidth: "handed-over".length, text: ({ report }) => outcomeText(report) },
  {
    title: "TOOK",
    shrink: "never",
    reservedWidth: "12m 30s".length,
    text: ({ report }) => spanText(releaseMs(report)),
  },
];

/** Omitted in a watch, which prints a drain before the manager reports its resets. */
const RESETS_COLUMN: Column = {
  title: "RESETS",
  shrink: "never",
  reservedWidth: 0,
  text: ({ report: { resets } }) => (resets === undefined ? "–" : countText(resets.stopping)),
};

type Column = {
  readonly title: string;
  /** Order of shrinking. The owner shrinks first, because a Pod's name usually contains it. */
  readonly shrink: "first" | "later" | "never";
  readonly reservedWidth: number;
  readonly text: (record: DrainRecord) => string;
};

type TableOptions = {
  readonly drains: readonly DrainRecord[];
  readonly width: number;
  /** The first column: the age in a list, the time of day in a watch. */
  readonly timeColumn: { readonly title: string; readonly text: (record: DrainRecord) => string };
  readonly isGrowing: boolean;
};

type Table = { readonly header: string; readonly row: (record: DrainRecord) => string };

export function tableFor({ drains, width, timeColumn, isGrowing }: TableOptions): Table {
  const columns: readonly Column[] = [
    { ...timeColumn, shrink: "never", reservedWidth: 0 },
    ...COLUMNS,
    ...(isGrowing ? [] : [RESETS_COLUMN]),
  ];
  const tableWidth = Math.max(MIN_WIDTH, width);
  const naturalWidths = columns.map(({ title, text, reservedWidth }) =>
    drains.reduce(
      (maxWidth, drain) => Math.max(maxWidth, widthOf(text(drain))),
      Math.max(title.length, isGrowing ? reservedWidth : 0),
    ),
  );
  const gapWidth = columns.length * GAP.length;
  const widths = fitWidths(naturalWidths, columns, tableWidth - gapWidth - Math.floor(tableWidth / 3));
  const sentenceWidth = tableWidth - gapWidth - totalWidth(widths);
  const formatRow = (texts: readonly string[], why: string): string => {
    const cells = texts.map((text, at) => padText(truncateMiddle(text, widths[at] ?? 0), widths[at] ?? 0));
    return [...cells, truncateEnd(why, sentenceWidth)].join(GAP).trimEnd();
  };
  return {
    header: formatRow(
      columns.map(({ title }) => title),
      "WHY",
    ),
    row: (record) =>
      formatRow(
        columns.map(({ text }) => text(record)),
        whyText(record),
      ),
  };
}

/** Returns an age such as `12s`, `3m`, `2h` or `4d`. A replica's clock may be ahead of the local clock, so a negative age becomes 0. */
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

function countText(count: number): string {
  return count > 999 ? "999+" : String(count);
}

function whyText({ report }: DrainRecord): string {
  const why = report.why.replace(/^Released \S+ after the trigger: /, "");
  const { resets } = report;
  return resets === undefined || resets.stopping === 0 ? why : `cut ${resetsText(resets)}; ${why}`;
}

function fitWidths(
  naturalWidths: readonly number[],
  columns: readonly Column[],
  availableWidth: number,
): readonly number[] {
  const fittedWidths = [...naturalWidths];
  for (const shrinkGroup of ["first", "later"]) {
    const maxWidth = (): number => Math.max(...fittedWidths.filter((_, at) => columns[at]?.shrink === shrinkGroup));
    while (totalWidth(fittedWidths) > availableWidth && maxWidth() > NAME_WIDTH) {
      const at = fittedWidths.findIndex(
        (width, index) => columns[index]?.shrink === shrinkGroup && width === maxWidth(),
      );
      fittedWidths[at] = maxWidth() - 1;
    }
  }
  return fittedWidths;
}

function totalWidth(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, 0);
}

function truncateEnd(text: string, width: number): string {
  const characters = [...printable(text)];
  return characters.length <= width ? characters.join("") : `${characters.slice(0, Math.max(0, width - 1)).join("")}…`;
}

/** Keeps the end, where the names of one owner's Pods differ. */
function truncateMiddle(text: string, width: number): string {
  const characters = [...printable(text)];
  if (characters.length <= width) return characters.join("");
  const tailLength = Math.ceil((width - 1) / 2);
  return `${characters.slice(0, width - 1 - tailLength).join("")}…${characters.slice(characters.length - tailLength).join("")}`;
}

function widthOf(text: string): number {
  return [...printable(text)].length;
}

function padText(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - [...text].length));
}
