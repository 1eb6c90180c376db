/** The figures of the admission benchmark, and how a person reads them. */
import { type Goal, goalsOf } from "./admission-goals.ts";
import { SIZES, type Size } from "./admission-reviews.ts";

export type ServerFigures = {
  readonly server: string;
  readonly cpuMicroseconds: number;
  readonly perSecondPerCore: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly halfLoadP99Ms: number;
};

export type IdleMemory = { readonly how: string; readonly bytes: number };

export type AdmissionFigures = {
  readonly cores: number;
  /** Of the last minute, as the run began and ended; the run itself is about two of it. */
  readonly loadAverage: { readonly before: number; readonly after: number };
  readonly bytes: Readonly<Record<Size, number>>;
  readonly small: readonly ServerFigures[];
  readonly large: readonly ServerFigures[];
  /** Work per CPU second as a share of the floor's, 0 to 1. */
  readonly shareOfFloor: Readonly<Record<Size, number>>;
  readonly idle: readonly IdleMemory[];
  readonly soakRequests: number;
  /** Resident memory of the webhook at equal steps of the soak, its start first. */
  readonly soakBytes: readonly number[];
};

export function textOf(figures: AdmissionFigures): string {
  const { before, after } = figures.loadAverage;
  const lines = [
    `${figures.cores} cores; both servers took turns in one run.`,
    `Load average ${before.toFixed(2)} before, ${after.toFixed(2)} after; the run alone makes about 2.`,
    "",
  ];
  for (const size of SIZES) {
    const title = `${size} Pod, ${figures.bytes[size]} bytes`;
    lines.push(...tableOf(title, figures.shareOfFloor[size], figures[size]), "");
  }
  for (const { how, bytes } of figures.idle) lines.push(`idle memory, ${how}: ${megabytes(bytes)}`);
  const steps = figures.soakBytes.map(megabytes).join(", ");
  lines.push(`memory over ${figures.soakRequests} small requests: ${steps}`, "");
  lines.push(...goalsOf(figures).map(lineOf), "");
  return lines.join("\n");
}

function lineOf({ goal, found, met }: Goal): string {
  return `${met ? "met   " : "missed"}  ${goal} (${found})`;
}

/** How much of the floor's work per CPU second the webhook gets done. */
export function shareOfFloor(rows: readonly ServerFigures[]): number {
  const cost = (name: string) => rows.find((row) => row.server === name)?.cpuMicroseconds ?? 0;
  return cost("floor") / cost("webhook");
}

function tableOf(title: string, share: number, rows: readonly ServerFigures[]): string[] {
  const heads = ["CPU µs", "req/s/core", "req/s", "p50 ms", "p99 ms", "p99.9 ms", "p99 ms at half load"];
  const lines = [`${title}: ${(100 * share).toFixed(1)} % of the floor`];
  lines.push(`${"".padEnd(10)}${heads.map((head) => head.padStart(Math.max(10, head.length + 2))).join("")}`);
  for (const row of rows) {
    const cells = [
      row.cpuMicroseconds.toFixed(1),
      row.perSecondPerCore.toFixed(0),
      row.perSecond.toFixed(0),
      row.p50Ms.toFixed(2),
      row.p99Ms.toFixed(2),
      row.p999Ms.toFixed(2),
      row.halfLoadP99Ms.toFixed(2),
    ];
    const widths = heads.map((head) => Math.max(10, head.length + 2));
    lines.push(`${row.server.padEnd(10)}${cells.map((cell, index) => cell.padStart(widths[index] ?? 10)).join("")}`);
  }
  return lines;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
