/** The table of docs/protocols.md, from what a run saw. Pure. */
import { table, within } from "../results/page.ts";
import { CRITERIA, type Ending, type Endings, type Scene } from "./scene.ts";

export type PlayedScene = Pick<Scene, "protocol" | "client"> & { readonly endings: Endings };

const WORDS: Readonly<Record<Ending | "unsure", string>> = {
  quiet: "quiet period",
  closed: "close",
  deadline: "deadline",
  cut: "**too early**",
  unsure: "**not sure**",
};

const HEAD = ["protocol", "a client that", "`quiet`", "`connections`", "`requests`", "`requests`, told", "set"];

/** @throws where the page has no marks */
export function withProtocols(page: string, scenes: readonly PlayedScene[]): string {
  const rows = scenes.map(({ protocol, client, endings }) => {
    const cells = CRITERIA.map((criterion) => WORDS[endings[criterion]]);
    return [protocol, client, ...cells, settingFor(endings)];
  });
  return within(page, "protocols", table([HEAD, ...rows]));
}

/** The least that makes the drain end neither too early nor at the deadline. */
export function settingFor(endings: Endings): string {
  if (endings.quiet === "quiet") return "nothing";
  if (endings.requests === "quiet") return "`active-url`";
  return endings.told === "quiet" ? "`active-url`, `drain-url`" : "nothing helps";
}
