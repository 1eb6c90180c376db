/** The README's lists of skip reasons, problems and faults, from their tables. */
import { FAULTS } from "../fault.ts";
import { SKIP_REASONS } from "../injection/outcome.ts";
import { PROBLEMS } from "../policy/problem.ts";

export function reasonReference(): string {
  return table("reason", SKIP_REASONS);
}

export function problemReference(): string {
  return table("problem", PROBLEMS);
}

export function faultReference(): string {
  return table("fault", FAULTS);
}

function table(head: string, sentences: Readonly<Record<string, string>>): string {
  const rows = Object.entries(sentences).map(([key, sentence]) => `| \`${key}\` | ${sentence} |`);
  return [`| ${head} | means |`, "|---|---|", ...rows].join("\n");
}
