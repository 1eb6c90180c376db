/** Prints the results of the manager benchmark as a table. */
import { HOLDS_LIMIT } from "../src/manager/drain/hook-calls.ts";
import type { Memory } from "./manager-cost.ts";
import type { Goal } from "./manager-goals.ts";
import type { Options } from "./manager-options.ts";
import type { BuildResults } from "./manager-results.ts";

type Row = { readonly name: string; readonly formatCell: (results: BuildResults) => string };

const MISSING = "-";

export function formatTable(results: readonly BuildResults[], options: Options): string {
  const head = formatLine(
    "",
    results.map(({ build }) => build),
  );
  const rows = rowsFor(results, options).map(({ name, formatCell }) => formatLine(name, results.map(formatCell)));
  return [head, ...rows].join("\n");
}

function rowsFor(results: readonly BuildResults[], options: Options): readonly Row[] {
  const drains = results[0]?.manager?.drains ?? [];
  return [
    { name: "size, KiB", formatCell: ({ bytes }) => (bytes / 1024).toFixed(1) },
    { name: "size without symbols, KiB", formatCell: ({ strippedBytes }) => (strippedBytes / 1024).toFixed(1) },
    { name: "start until listening, ms (median)", formatCell: ({ startMs }) => startMs.toFixed(1) },
    { name: "threads", formatCell: ({ threads }) => String(threads) },
    {
      name: `context switches in ${options.idleSeconds} s idle`,
      formatCell: ({ idleSwitches }) => String(idleSwitches),
    },
    ...memoryRows("idle", ({ idle }) => idle),
    ...memoryRows(`${HOLDS_LIMIT} hooks held`, ({ manager }) => manager?.held),
    ...memoryRows("after 10000 calls", ({ manager }) => manager?.called),
    ...drains.map(({ connections }, index) => ({
      name: `drain, ${connections} connections, % of a core`,
      formatCell: ({ manager }: BuildResults) => formatPercent(manager?.drains[index]?.shareOfCore),
    })),
  ];
}

function memoryRows(when: string, memoryOf: (results: BuildResults) => Memory | undefined): readonly Row[] {
  return [
    { name: `${when}: RSS, KiB`, formatCell: (results) => String(memoryOf(results)?.rssKiB ?? MISSING) },
    { name: `${when}: PSS, KiB`, formatCell: (results) => String(memoryOf(results)?.pssKiB ?? MISSING) },
    { name: `${when}: anonymous, KiB`, formatCell: (results) => String(memoryOf(results)?.anonymousKiB ?? MISSING) },
  ];
}

export function formatGoal({ title, measured, met }: Goal): string {
  return `${met ? "met   " : "MISSED"}  ${title}: ${measured}`;
}

function formatPercent(share: number | undefined): string {
  return share === undefined ? MISSING : (100 * share).toFixed(2);
}

function formatLine(name: string, cells: readonly string[]): string {
  return `${name.padEnd(40)}${cells.map((cell) => cell.padStart(12)).join("")}`;
}
