/** A heading for every alert of the chart, so that an address can end with it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { code } from "./markdown-table.ts";

const FILE = join(import.meta.dirname, "../../charts/lastcall/alerts/lastcall.yaml");

type Alert = {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string };
};

export function alertReference(): string {
  const { groups } = parse(readFileSync(FILE, "utf8")) as { groups: readonly { rules: readonly Alert[] }[] };
  return groups
    .flatMap(({ rules }) => rules)
    .map(({ alert, expr, labels, annotations }) => {
      const { summary, description } = annotations;
      const expression = ["```", expr.trimEnd(), "```"].join("\n");
      return `## ${alert}\n\n${labels.severity}: ${summary} ${withoutTemplates(description)}\n\n${expression}\n`;
    })
    .join("\n");
}

/** Prometheus fills these in: a label of the series, or its value. */
function withoutTemplates(text: string): string {
  return text
    .replaceAll(/\{\{ *\$labels\.(\w+) *\}\}/g, (_, label: string) => code(label))
    .replaceAll(/\{\{[^}]*\}\}/g, code("value"));
}
