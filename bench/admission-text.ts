/** Defines the results of the admission benchmark and prints them as text. */
import { checkGoals, type Goal } from "./admission-goals.ts";
import { SIZES, type Size } from "./admission-reviews.ts";

export type ServerResults = {
  readonly server: string;
  readonly cpuMicroseconds: number;
  readonly perSecondPerCore: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly halfLoadP99Ms: number;
};

export type IdleMemory = { readonly setup: string; readonly bytes: number };

export type AdmissionResults = {
  readonly cores: number;
  /** The host's one-minute load averages at the start and at the end of the run, which itself causes a load of about 2. */
  readonly loadAverage: { readonly before: number; readonly after: number };
  readonly bytes: Readonly<Record<Size, number>>;
  readonly small: readonly ServerResults[];
  readonly large: readonly ServerResults[];
  readonly shareOfBaseline: Readonly<Record<Size, number>>;
  readonly idle: readonly IdleMemory[];
  readonly soakRequests: number;
  readonly soakBytes: readonly number[];
};

export function formatResults(results: AdmissionResults): string {
  const { before, after } = results.loadAverage;
  const lines = [
    `${results.cores} cores; both servers were measured in turns.`,
    `Load average ${before.toFixed(2)} before, ${after.toFixed(2)} after; the run alone causes about 2.`,
    "",
  ];
  for (const size of SIZES) {
    const title = `${size} Pod, ${results.bytes[size]} bytes`;
    lines.push(...formatTable(title, results.shareOfBaseline[size], results[size]), "");
  }
  for (const { setup, bytes } of results.idle) lines.push(`idle memory, ${setup}: ${formatMegabytes(bytes)}`);
  const steps = results.soakBytes.map(formatMegabytes).join(", ");
  lines.push(`memory over ${results.soakRequests} small requests: ${steps}`, "");
  lines.push(...checkGoals(results).map(formatGoal), "");
  return lines.join("\n");
}

function formatGoal({ title, measured, met }: Goal): string {
  return `${met ? "met   " : "missed"}  ${title} (${measured})`;
}

export function shareOfBaseline(rows: readonly ServerResults[]): number {
  const cpuOf = (name: string) => rows.find((row) => row.server === name)?.cpuMicroseconds ?? 0;
  return cpuOf("baseline") / cpuOf("webhook");
}

function formatTable(title: string, share: number, rows: readonly ServerResults[]): string[] {
  const headers = ["CPU µs", "req/s/core", "req/s", "p50 ms", "p99 ms", "p99.9 ms", "p99 ms at half load"];
  const lines = [`${title}: ${(100 * share).toFixed(1)} % of the baseline`];
  lines.push(`${"".padEnd(10)}${headers.map((header) => header.padStart(Math.max(10, header.length + 2))).join("")}`);
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
    const widths = headers.map((header) => Math.max(10, header.length + 2));
    lines.push(`${row.server.padEnd(10)}${cells.map((cell, index) => cell.padStart(widths[index] ?? 10)).join("")}`);
  }
  return lines;
}

function formatMegabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
