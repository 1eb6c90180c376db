/** Writes the table of docs/protocols.md from measured endings. Pure. */
import { replaceSection, table } from "../results/page.ts";
import { CRITERIA, type Ending, type Endings, type Scenario } from "./protocol-scenario.ts";

export type MeasuredScenario = Pick<Scenario, "protocol" | "behaviour"> & { readonly endings: Endings };

const LABELS: Readonly<Record<Ending | "unsure", string>> = {
  quiet: "quiet period",
  closed: "close",
  deadline: "deadline",
  cut: "**too early**",
  unsure: "**varies**",
};

const HEAD = [
  "protocol",
  "a client that",
  "`quiet`",
  "`connections`",
  "`requests`",
  "`requests` with `drain-url`",
  "set",
];

export function insertProtocolTable(page: string, scenarios: readonly MeasuredScenario[]): string {
  const rows = scenarios.map(({ protocol, behaviour, endings }) => {
    const cells = CRITERIA.map((criterion) => LABELS[endings[criterion]]);
    return [protocol, behaviour, ...cells, smallestSetting(endings)];
  });
  return replaceSection(page, "protocols", table([HEAD, ...rows]));
}

export function smallestSetting(endings: Endings): string {
  if (endings.quiet === "quiet") return "nothing";
  if (endings.requests === "quiet") return "`active-url`";
  return endings.notified === "quiet" ? "`active-url`, `drain-url`" : "nothing helps";
}
