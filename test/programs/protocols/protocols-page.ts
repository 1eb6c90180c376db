/** The table of docs/protocols.md, from what a run saw. Pure. */
import { CRITERIA, type Ending, type Endings, type Scene } from "./scene.ts";

export type PlayedScene = Pick<Scene, "protocol" | "client"> & { readonly endings: Endings };

const BEGIN = "<!-- generated: protocols -->";
const END = "<!-- end of protocols -->";

const WORDS: Readonly<Record<Ending | "unsure", string>> = {
  quiet: "quiet period",
  closed: "close",
  deadline: "deadline",
  cut: "**too early**",
  unsure: "**not sure**",
};

/** @throws where the page has no marks */
export function withProtocols(page: string, scenes: readonly PlayedScene[]): string {
  const from = page.indexOf(BEGIN);
  const to = page.indexOf(END);
  if (from < 0 || to < from) throw new Error(`the page has no section between ${BEGIN} and ${END}`);
  return `${page.slice(0, from + BEGIN.length)}\n${table(scenes)}\n${page.slice(to)}`;
}

function table(scenes: readonly PlayedScene[]): string {
  const head = "| protocol | a client that | `quiet` | `connections` | `requests` | `requests`, told | set |";
  const rows = scenes.map(({ protocol, client, endings }) => {
    const cells = CRITERIA.map((criterion) => WORDS[endings[criterion]]);
    return `| ${[protocol, client, ...cells, settingFor(endings)].join(" | ")} |`;
  });
  return [head, "|---|---|---|---|---|---|---|", ...rows].join("\n");
}

/** The least that makes the drain end neither too early nor at the deadline. */
export function settingFor(endings: Endings): string {
  if (endings.quiet === "quiet") return "nothing";
  if (endings.requests === "quiet") return "`active-url`";
  return endings.told === "quiet" ? "`active-url`, `drain-url`" : "nothing helps";
}
