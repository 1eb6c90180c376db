/** The table of a run, for people. */
import { MOST_HOLDS } from "../src/manager/drain/hook-calls.ts";
import type { Memory } from "./manager-cost.ts";
import type { Figures } from "./manager-figures.ts";
import type { Goal } from "./manager-goals.ts";
import type { Options } from "./manager-options.ts";

type Row = { readonly name: string; readonly cell: (figures: Figures) => string };

const NOTHING = "-";

export function tableOf(figures: readonly Figures[], options: Options): string {
  const head = line(
    "",
    figures.map(({ build }) => build),
  );
  const rows = rowsFor(figures, options).map(({ name, cell }) => line(name, figures.map(cell)));
  return [head, ...rows].join("\n");
}

function rowsFor(figures: readonly Figures[], options: Options): readonly Row[] {
  const drains = figures[0]?.manager?.drains ?? [];
  return [
    { name: "size, KiB", cell: ({ bytes }) => (bytes / 1024).toFixed(1) },
    { name: "size without symbols, KiB", cell: ({ strippedBytes }) => (strippedBytes / 1024).toFixed(1) },
    { name: "start to listen, ms (median)", cell: ({ startMs }) => startMs.toFixed(1) },
    { name: "threads", cell: ({ threads }) => String(threads) },
    { name: `context switches in ${options.idleSeconds} s idle`, cell: ({ idleSwitches }) => String(idleSwitches) },
    ...memoryRows("idle", ({ idle }) => idle),
    ...memoryRows(`${MOST_HOLDS} hooks held`, ({ manager }) => manager?.held),
    ...memoryRows("after 10000 calls", ({ manager }) => manager?.called),
    ...drains.map(({ connections }, index) => ({
      name: `drain, ${connections} connections, % of a core`,
      cell: ({ manager }: Figures) => percent(manager?.drains[index]?.shareOfCore),
    })),
  ];
}

function memoryRows(when: string, memory: (figures: Figures) => Memory | undefined): readonly Row[] {
  return [
    { name: `${when}: RSS, KiB`, cell: (figures) => String(memory(figures)?.rssKiB ?? NOTHING) },
    { name: `${when}: PSS, KiB`, cell: (figures) => String(memory(figures)?.pssKiB ?? NOTHING) },
    { name: `${when}: anonymous, KiB`, cell: (figures) => String(memory(figures)?.anonymousKiB ?? NOTHING) },
  ];
}

export function goalText({ goal, found, met }: Goal): string {
  return `${met ? "met   " : "MISSED"}  ${goal}: ${found}`;
}

function percent(share: number | undefined): string {
  return share === undefined ? NOTHING : (100 * share).toFixed(2);
}

function line(name: string, cells: readonly string[]): string {
  return `${name.padEnd(40)}${cells.map((cell) => cell.padStart(12)).join("")}`;
}
